import { expect } from 'chai';
import fc from 'fast-check';
import { JsonBytes, JsonPiece } from '#simulator/kubelet/json-bytes.ts';
import { appendList, JsonTemplate } from '#simulator/kubelet/json-template.ts';

describe('JsonTemplate', () => {
  it('appends what JSON.stringify writes of the shape with its values', () => {
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
          c: new JsonPiece(JSON.stringify(c)),
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
