import { expect } from 'chai';
import { mergePatch } from '#simulator/patches/merge-patch.ts';

describe('mergePatch', () => {
  it('merges objects, replaces the rest, and deletes by null', () => {
    const target = { labels: { a: '1', b: '2' }, list: [1, 2], keep: true };
    expect(mergePatch(target, { labels: { a: null, c: '3' }, list: [3] })).to.deep.equal({
      labels: { b: '2', c: '3' },
      list: [3],
      keep: true,
    });
  });

  it('leaves the target as it was', () => {
    const target = Object.freeze({ a: Object.freeze({ b: 1 }) });
    mergePatch(target, { a: { b: 2 } });
    expect(target).to.deep.equal({ a: { b: 1 } });
  });
});
