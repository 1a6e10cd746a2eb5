import { expect } from 'chai';
import fc from 'fast-check';
import { TextWriter } from '#lib/apiserver/encoding/text-writer.ts';

describe('TextWriter', () => {
  it('writes the UTF-8 of all texts, and tells how long it is', () => {
    const texts = fc.array(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.nat({ max: 20_000 }).map((length) => 'é'.repeat(length)),
      ),
    );
    fc.assert(
      fc.property(texts, (all) => {
        const writer = new TextWriter(Buffer.allocUnsafe(16));
        for (const text of all) writer.text(text);
        const plain = Buffer.concat(all.map((text) => Buffer.from(text)));
        expect(writer.length).to.equal(plain.length);
        expect(writer.finish().equals(plain)).to.equal(true);
      }),
    );
  });
});
