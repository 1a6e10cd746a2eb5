import { expect } from 'chai';
import fc from 'fast-check';
import { ObjectIndex } from '#lib/kubernetes/informer/object-index.ts';

const indexOfWords = () => new ObjectIndex<readonly string[]>((words) => words);

describe('ObjectIndex', () => {
  it('finds the keys of objects under each of their words, as long as they have them', () => {
    const index = indexOfWords();
    index.apply({ key: 'a', previous: undefined, current: ['x', 'y'] });
    index.apply({ key: 'b', previous: undefined, current: ['y'] });
    expect([...index.keys('x')]).to.deep.equal(['a']);
    expect([...index.keys('y')]).to.deep.equal(['a', 'b']);
    index.apply({ key: 'a', previous: ['x', 'y'], current: ['z'] });
    expect([...index.keys('x')]).to.deep.equal([]);
    expect([...index.keys('y')]).to.deep.equal(['b']);
    expect([...index.keys('z')]).to.deep.equal(['a']);
  });

  it('finds what a plain search finds', () => {
    const words = fc.uniqueArray(fc.constantFrom('x', 'y', 'z'));
    const change = fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      current: fc.option(words, { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        const index = indexOfWords();
        const objects = new Map<string, readonly string[]>();
        for (const { key, current } of changes) {
          index.apply({ key, previous: objects.get(key), current });
          if (current) objects.set(key, current);
          else objects.delete(key);
        }
        for (const word of ['x', 'y', 'z']) {
          const expected = [...objects].filter(([, has]) => has.includes(word)).map(([key]) => key);
          expect([...index.keys(word)]).to.have.members(expected);
        }
      }),
    );
  });

  it('finds an object under a word once that it tells twice', () => {
    const index = indexOfWords();
    index.apply({ key: 'a', previous: undefined, current: ['x', 'x'] });
    expect([...index.keys('x')]).to.deep.equal(['a']);
    index.apply({ key: 'a', previous: ['x', 'x'], current: undefined });
    expect([...index.keys('x')]).to.deep.equal([]);
  });

  it('finds an object under no word about which its function throws', () => {
    const index = new ObjectIndex<string>(() => {
      throw new Error('no words');
    });
    index.apply({ key: 'a', previous: undefined, current: 'x' });
    expect([...index.keys('x')]).to.deep.equal([]);
  });
});
