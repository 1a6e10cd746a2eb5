import { expect } from 'chai';
import fc from 'fast-check';
import { GrowingBuffer, spareBuffer } from '#lib/apiserver/encoding/growing-buffer.ts';

describe('GrowingBuffer', () => {
  it('has the UTF-8 of all texts and all bytes in their order, tells how long it is, and begins again', () => {
    const texts = fc.array(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.nat({ max: 20_000 }).map((length) => 'é'.repeat(length)),
        fc.uint8Array(),
      ),
    );
    const writer = new GrowingBuffer(Buffer.allocUnsafe(16));
    fc.assert(
      fc.property(texts, (all) => {
        for (const each of all) typeof each === 'string' ? writer.text(each) : writer.raw(each);
        const plain = Buffer.concat(all.map((each) => Buffer.from(each as string)));
        expect(writer.length).to.equal(plain.length);
        expect(writer.finish().equals(plain)).to.equal(true);
      }),
    );
  });
});

describe('spareBuffer', () => {
  beforeEach(() => {
    spareBuffer(); // what others have released
  });

  it('never gives the same buffer to two at once, and the largest that was released again', () => {
    const [first, second] = [spareBuffer(), spareBuffer()];
    expect(first.buffer).not.to.equal(second.buffer);
    const larger = Buffer.allocUnsafe(first.length + second.length);
    for (const buffer of [first, larger, second]) new GrowingBuffer(buffer).release();
    expect(spareBuffer()).to.equal(larger);
    expect([first, larger, second]).not.to.include(spareBuffer());
  });

  it('does not hold on to what is too large', () => {
    const tooLarge = Buffer.allocUnsafe(9 * 1024 * 1024);
    new GrowingBuffer(tooLarge).release();
    expect(spareBuffer()).not.to.equal(tooLarge);
  });
});
