import { expect } from 'chai';
import fc from 'fast-check';
import { jsonPatch, PatchError } from '#simulator/patches/json-patch.ts';

describe('jsonPatch', () => {
  for (const [what, before, patch, after] of [
    ['adds fields', { a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
    ['adds before an item', { a: [1, 3] }, [{ op: 'add', path: '/a/1', value: 2 }], { a: [1, 2, 3] }],
    ['adds behind the last item', { a: [1] }, [{ op: 'add', path: '/a/-', value: 2 }], { a: [1, 2] }],
    ['removes items', { a: [1, 2] }, [{ op: 'remove', path: '/a/0' }], { a: [2] }],
    ['replaces', { a: { b: 1 } }, [{ op: 'replace', path: '/a/b', value: 2 }], { a: { b: 2 } }],
    ['replaces everything', { a: 1 }, [{ op: 'replace', path: '', value: { b: 1 } }], { b: 1 }],
    ['moves', { a: 1 }, [{ op: 'move', from: '/a', path: '/b' }], { b: 1 }],
    ['copies', { a: [1] }, [{ op: 'copy', from: '/a', path: '/b' }], { a: [1], b: [1] }],
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

  it('undoes what it did, whatever the object', () => {
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
