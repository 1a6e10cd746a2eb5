import { expect } from 'chai';
import fc from 'fast-check';
import {
  jsonPatch,
  mergePatch,
  PatchError,
  strategicMergePatch,
} from '#simulator/api-server/writes/patches.ts';
import { POD_SPEC } from '#simulator/resources/kinds/pod-template.ts';
import { OBJECT_META } from '#simulator/resources/schema.ts';

describe('jsonPatch', () => {
  for (const [what, before, patch, after] of [
    ['adds fields', { a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
    ['adds before an item', { a: [1, 3] }, [{ op: 'add', path: '/a/1', value: 2 }], { a: [1, 2, 3] }],
    ['adds behind the last item', { a: [1] }, [{ op: 'add', path: '/a/-', value: 2 }], { a: [1, 2] }],
    ['removes items', { a: [1, 2] }, [{ op: 'remove', path: '/a/0' }], { a: [2] }],
    ['replaces', { a: { b: 1 } }, [{ op: 'replace', path: '/a/b', value: 2 }], { a: { b: 2 } }],
    ['replaces everything', { a: 1 }, [{ op: 'replace', path: '', value: { b: 1 } }], { b: 1 }],
    [
      'reads escapes',
      { 'a/b': { '~c': 1 } },
      [{ op: 'replace', path: '/a~1b/~0c', value: 2 }],
      { 'a/b': { '~c': 2 } },
    ],
    ['tests deeply', { a: [{ b: 1 }] }, [{ op: 'test', path: '/a', value: [{ b: 1 }] }], { a: [{ b: 1 }] }],
  ] as const) {
    it(what, () => expect(jsonPatch(before, patch)).to.deep.equal(after));
  }

  for (const [what, patch, isAboutObject] of [
    ['a test that fails', [{ op: 'test', path: '/a', value: 2 }], true],
    ['what is not there', [{ op: 'remove', path: '/b' }], true],
    ['an item far behind the last', [{ op: 'add', path: '/c/7', value: 1 }], true],
    ['what lies in no object', [{ op: 'add', path: '/a/b', value: 1 }], true],
    ['an unknown operation', [{ op: 'flip', path: '/a' }], false],
    ['what is no list', { op: 'add' }, false],
    ['a path without its slash', [{ op: 'add', path: 'a', value: 1 }], false],
  ] as const) {
    it(`refuses ${what}`, () => {
      const before = Object.freeze({ a: 1, c: [] });
      expect(() => jsonPatch(before, patch))
        .to.throw(PatchError)
        .with.property('isAboutObject', isAboutObject);
    });
  }

  it('restores any object when it removes a member that it has added', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.string({ minLength: 1 }),
        fc.jsonValue(),
        (object, key, value) => {
          fc.pre(!Object.hasOwn(object, key));
          const path = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
          const added = jsonPatch(object, [{ op: 'add', path, value }]);
          expect(jsonPatch(added, [{ op: 'remove', path }])).to.deep.equal(structuredClone(object));
        },
      ),
    );
  });
});

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

  it('replaces objects, and retains listed keys', () => {
    const before = { strategy: { type: 'RollingUpdate', rollingUpdate: {} } };
    expect(
      strategicMergePatch(before, { strategy: { $patch: 'replace', type: 'x' } }, undefined),
    ).to.deep.equal({ strategy: { type: 'x' } });
    const retained = { strategy: { $retainKeys: ['type'], type: 'Recreate' } };
    expect(strategicMergePatch(before, retained, undefined)).to.deep.equal({
      strategy: { type: 'Recreate' },
    });
  });

  it('replaces lists that are not merged', () => {
    expect(
      strategicMergePatch({ tolerations: [{ key: 'a' }] }, { tolerations: [{ key: 'b' }] }, POD_SPEC),
    ).to.deep.equal({
      tolerations: [{ key: 'b' }],
    });
  });
});
