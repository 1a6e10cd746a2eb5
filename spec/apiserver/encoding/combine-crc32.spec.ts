import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { combineCrc32 } from '#lib/apiserver/encoding/combine-crc32.ts';

describe('combineCrc32', () => {
  it('gives the checksum of both texts', () => {
    const texts = fc.oneof(fc.uint8Array(), fc.uint8Array({ minLength: 1000, maxLength: 5000 }));
    fc.assert(
      fc.property(texts, texts, (first, second) => {
        const whole = crc32(Buffer.concat([first, second]));
        expect(combineCrc32(crc32(first), crc32(second), second.length)).to.equal(whole);
      }),
    );
  });

  it('takes texts of any length', () => {
    let [checksum, length] = [crc32('a'), 1];
    while (length < 2 ** 40) [checksum, length] = [combineCrc32(checksum, checksum, length), 2 * length];
    // The same letters, put together in another order.
    expect(combineCrc32(checksum, crc32('a'), 1)).to.equal(combineCrc32(crc32('a'), checksum, length));
  });
});
