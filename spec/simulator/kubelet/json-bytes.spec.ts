import { expect } from 'chai';
import fc from 'fast-check';
import { JsonBytes, JsonPiece } from '#simulator/kubelet/json-bytes.ts';

describe('JsonBytes', () => {
  it('gives what was appended, in its order, as UTF-8', () => {
    const bytes = new JsonBytes();
    const text = fc.string({ unit: 'grapheme', maxLength: 200 });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), text)), (parts) => {
        for (const [isPiece, part] of parts) {
          if (isPiece) bytes.appendPiece(new JsonPiece(part));
          else bytes.appendText(part);
        }
        expect(bytes.take().toString()).to.equal(
          parts
            .map(([, part]) => part)
            .join('')
            .toWellFormed(),
        );
      }),
    );
  });

  it('grows as it needs to', () => {
    const bytes = new JsonBytes();
    const texts = Array.from({ length: 3 }, (_, index) => String(index).repeat(100_001));
    for (const part of texts) bytes.appendPiece(new JsonPiece(part));
    for (const part of texts) bytes.appendText(`ü${part}`);
    expect(bytes.take().toString()).to.equal([...texts, ...texts.map((part) => `ü${part}`)].join(''));
  });

  it('writes numbers as JSON.stringify does', () => {
    const bytes = new JsonBytes();
    const special = [0, -0, 9, 10, 99_999_999, 1e8, 1e16, 2 ** 53, 1e21, 0.1, -1];
    const number = fc.oneof(
      fc.constantFrom(...special),
      fc.maxSafeNat(),
      fc.nat(),
      fc.double({ noNaN: true }),
    );
    fc.assert(
      fc.property(number.filter(Number.isFinite), (value) => {
        bytes.appendNumber(value);
        expect(bytes.take().toString()).to.equal(JSON.stringify(value));
      }),
    );
  });
});
