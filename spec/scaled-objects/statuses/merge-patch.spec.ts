import { expect } from 'chai';
import fc from 'fast-check';
import { mergePatch } from '#lib/scaled-objects/statuses/merge-patch.ts';

type Fields = Record<string, unknown>;

describe('mergePatch', () => {
  it('says null of what is gone, at any depth', () => {
    const before = { a: '', health: { x: { count: 1 }, y: { count: 2 } }, names: ['n'] };
    const after = { health: { y: { count: 3 } }, names: [] };
    expect(mergePatch(before, after)).to.deep.equal({
      a: null,
      health: { x: null, y: { count: 3 } },
      names: [],
    });
  });

  it('makes the one of the other, whatever they are', () => {
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.array(fc.integer()));
    const { fields } = fc.letrec<{ fields: Fields; value: unknown }>((tie) => ({
      fields: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value')),
      value: fc.oneof({ maxDepth: 3 }, leaf, tie('fields')),
    }));
    fc.assert(
      fc.property(fields, fields, (before, after) => {
        expect(merged(before, mergePatch(before, after))).to.deep.equal({ ...after });
      }),
    );
  });
});

/** As RFC 7396 has it. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const isFields = typeof target === 'object' && target !== null && !Array.isArray(target);
  const result: Fields = isFields ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete result[field];
    else result[field] = merged(result[field], value);
  }
  return result;
}
