import { expect } from 'chai';
import fc from 'fast-check';
import {
  appendList,
  JsonBytes,
  JsonChunk,
  JsonTemplate,
  TimestampCache,
} from '#simulator/kubelet/json-template.ts';

describe('JsonTemplate', () => {
  it('appends the output of JSON.stringify for the shape with its values', () => {
    const bytes = new JsonBytes();
    const shape = (a: unknown, b: unknown, c: unknown, d: unknown) => ({
      a,
      list: [{ b }],
      c,
      d,
      again: { a },
    });
    const template = new JsonTemplate<'a' | 'b' | 'c' | 'd'>(shape('<a>', '<b>', '<c>', '<d>'), 0);
    fc.assert(
      fc.property(fc.string(), finite(), fc.string(), fc.integer(), (a, b, c, d) => {
        template.append(bytes, {
          a: JSON.stringify(a),
          b,
          c: new JsonChunk(JSON.stringify(c)),
          d: () => bytes.appendNumber(d),
        });
        expect(bytes.take().toString()).to.equal(JSON.stringify(shape(a, b, c, d), null, 1));
      }),
    );
  });

  it('indents what it will be nested in', () => {
    const bytes = new JsonBytes();
    new JsonTemplate<'a'>({ a: '<a>' }, 2).append(bytes, { a: 1 });
    expect(bytes.take().toString()).to.equal('{\n   "a": 1\n  }');
  });
});

describe('appendList', () => {
  it('appends what JSON.stringify writes', () => {
    const bytes = new JsonBytes();
    fc.assert(
      fc.property(fc.array(finite(), { maxLength: 4 }), (items) => {
        appendList(bytes, items, { depth: 1, append: (item) => bytes.appendNumber(item) });
        expect(bytes.take().toString()).to.equal(JSON.stringify(items, null, 1));
      }),
    );
  });
});

function finite() {
  return fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }));
}

describe('JsonBytes', () => {
  it('returns the appended texts in order, as UTF-8', () => {
    const bytes = new JsonBytes();
    const text = fc.string({ unit: 'grapheme', maxLength: 200 });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), text)), (parts) => {
        for (const [isPiece, part] of parts) {
          if (isPiece) bytes.appendChunk(new JsonChunk(part));
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
    for (const part of texts) bytes.appendChunk(new JsonChunk(part));
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

describe('TimestampCache', () => {
  it('writes the second that has begun, however often and for however many', () => {
    const stamps = new TimestampCache();
    const bytes = new JsonBytes();
    const textAt = (epochMs: number) => {
      bytes.appendChunk(stamps.at(epochMs));
      return bytes.take().toString();
    };
    for (let round = 0; round < 2; round++) {
      for (let second = 0; second < 30_000; second += 7) {
        const expected = JSON.stringify(`${new Date(second * 1000).toISOString().slice(0, 19)}Z`);
        expect(textAt(second * 1000 + 999.9)).to.equal(expected);
      }
    }
  });
});
