import { expect } from 'chai';
import { strategicMergePatch } from '#simulator/patches/strategic-merge-patch.ts';
import { POD_SPEC } from '#simulator/resources/built-in/pod-template.ts';
import { OBJECT_META } from '#simulator/schema/schema.ts';

const containers = [
  { name: 'a', image: '1' },
  { name: 'b', image: '2' },
];

describe('strategicMergePatch', () => {
  for (const [what, patch, after] of [
    ['merges items by their key', [{ name: 'b', image: '3' }], [containers[0], { name: 'b', image: '3' }]],
    ['adds items', [{ name: 'c' }], [...containers, { name: 'c' }]],
    ['deletes items', [{ name: 'a', $patch: 'delete' }], [containers[1]]],
    ['replaces a list that asks for it', [{ $patch: 'replace' }, { name: 'c' }], [{ name: 'c' }]],
  ] as const) {
    it(what, () => {
      expect(strategicMergePatch({ containers }, { containers: patch }, POD_SPEC)).to.deep.equal({
        containers: after,
      });
    });
  }

  it('orders items', () => {
    const patch = { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] };
    expect(strategicMergePatch({ containers }, patch, POD_SPEC)).to.deep.equal({
      containers: [...containers].reverse(),
    });
  });

  it('refuses an item without its key', () => {
    const patch = { containers: [{ image: 'x' }] };
    expect(() => strategicMergePatch({ containers }, patch, POD_SPEC)).to.throw(
      'does not contain declared merge key: name',
    );
  });

  it('adds to and deletes from lists of texts', () => {
    const before = { finalizers: ['a', 'b'] };
    expect(strategicMergePatch(before, { finalizers: ['b', 'c'] }, OBJECT_META)).to.deep.equal({
      finalizers: ['a', 'b', 'c'],
    });
    const patch = { '$deleteFromPrimitiveList/finalizers': ['a'] };
    expect(strategicMergePatch(before, patch, OBJECT_META)).to.deep.equal({ finalizers: ['b'] });
  });

  it('replaces objects, and keeps of them what is retained', () => {
    const before = { strategy: { type: 'RollingUpdate', rollingUpdate: {} } };
    expect(
      strategicMergePatch(before, { strategy: { $patch: 'replace', type: 'x' } }, undefined),
    ).to.deep.equal({ strategy: { type: 'x' } });
    const retained = { strategy: { $retainKeys: ['type'], type: 'Recreate' } };
    expect(strategicMergePatch(before, retained, undefined)).to.deep.equal({
      strategy: { type: 'Recreate' },
    });
  });

  it('takes lists that are not merged as a whole', () => {
    expect(
      strategicMergePatch({ tolerations: [{ key: 'a' }] }, { tolerations: [{ key: 'b' }] }, POD_SPEC),
    ).to.deep.equal({
      tolerations: [{ key: 'b' }],
    });
  });
});
