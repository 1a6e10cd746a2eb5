import { expect } from 'chai';
import fc from 'fast-check';
import { EncodedBatch } from '#lib/apiserver/resources/encoded-batch.ts';
import { jointParts } from '#lib/apiserver/resources/joint-batches.ts';

const COMMA = Buffer.from(',');
const LONG_BYTES = 64 * 1024;

function batchOf(bytes: number, fill = 'x'): EncodedBatch {
  return new EncodedBatch(Buffer.alloc(bytes, fill), Float64Array.of(bytes), 0);
}

/** Those parts of which the compressed form is kept. */
function keptOf(batches: readonly EncodedBatch[]) {
  return jointParts(batches, COMMA).filter(({ deflated }) => deflated !== undefined);
}

describe('jointParts', () => {
  it('has all batches in their order, with separators between them, if there are any', () => {
    const batches = fc.array(fc.oneof(fc.nat(1_000), fc.nat(2 * LONG_BYTES)), { maxLength: 12 });
    fc.assert(
      fc.property(batches, fc.constantFrom(COMMA, undefined), (lengths, separator) => {
        const all = lengths.map((length, index) => batchOf(length, String(index % 10)));
        const text = Buffer.concat(jointParts(all, separator).flatMap(({ pieces }) => pieces)).toString();
        expect(text).to.equal(all.map(({ bytes }) => bytes.toString()).join(separator?.toString() ?? ''));
      }),
    );
  });

  it('compresses short batches together, and long ones by themselves', () => {
    const [short, long] = [() => batchOf(1_000), () => batchOf(LONG_BYTES)];
    expect(keptOf([long(), long(), long()])).to.have.lengthOf(3);
    expect(keptOf([long(), short(), short(), long()])).to.have.lengthOf(3);
    expect(keptOf(Array.from({ length: 1_000 }, short))).to.have.lengthOf(Math.ceil(1_000 / 66));
  });

  it('compresses what follows one another in the same way but once', async () => {
    const batches = Array.from({ length: 100 }, () => batchOf(2_000));
    const compress = (some: readonly EncodedBatch[]) =>
      Promise.all(keptOf(some).map(({ deflated }) => deflated?.()));
    const first = await compress(batches);
    const second = await compress(batches);
    expect(first.every((deflated, index) => deflated === second[index])).to.equal(true);
    const others = await compress(batches.toSpliced(1, 1, batchOf(2_000)));
    expect(others[0]).not.to.equal(first[0]);
    expect(others.slice(1).every((deflated, index) => deflated === first[index + 1])).to.equal(true);
  });
});
