import { expect } from 'chai';
import fc from 'fast-check';
import { LruMap } from '#lib/cache/lru-map.ts';

describe('LruMap', () => {
  it('evicts the entry that was not used for the longest time', () => {
    const evicted: string[] = [];
    const map = new LruMap<string, number>({
      max: 2,
      onEvict: (value, key) => evicted.push(`${key}=${value}`),
    });
    map.set('a', 1);
    map.set('b', 2);
    expect(map.get('a')).to.equal(1);
    map.set('c', 3);
    expect(evicted).to.deep.equal(['b=2']);
    expect([...map]).to.deep.equal([
      ['a', 1],
      ['c', 3],
    ]);
    expect([map.size, [...map.values()]]).to.deep.equal([2, [1, 3]]);
  });

  it('does not use an entry that is peeked at, and uses one that is set again', () => {
    const map = new LruMap<string, number>({ max: 2 });
    map.set('a', 1);
    map.set('b', 2);
    expect(map.peek('a')).to.equal(1);
    map.set('c', 3);
    expect(map.peek('a')).to.equal(undefined);
    map.set('b', 4);
    map.set('d', 5);
    expect([...map]).to.deep.equal([
      ['b', 4],
      ['d', 5],
    ]);
  });

  it('creates a missing value once', () => {
    const map = new LruMap<string, object>({ max: 2 });
    const made = map.getOrSet('a', () => ({}));
    expect(map.getOrSet('a', () => ({}))).to.equal(made);
  });

  it('reports only evictions, not deletions and replacements', () => {
    const evicted: string[] = [];
    const map = new LruMap<string, number>({ max: 1, onEvict: (_, key) => evicted.push(key) });
    map.set('a', 1);
    map.set('a', 2);
    expect([map.delete('a'), map.delete('a')]).to.deep.equal([true, false]);
    map.set('b', 3);
    expect(evicted).to.deep.equal([]);
  });

  it('is empty after it was cleared, with all of its maximum', () => {
    const evicted: string[] = [];
    const map = new LruMap<string, number[]>({
      ...{ max: 2, weigh: ({ length }) => length },
      onEvict: (_, key) => evicted.push(key),
    });
    map.set('a', [1, 2]);
    map.clear();
    expect(map.size).to.equal(0);
    map.set('b', [1, 2]);
    expect([...map].map(([key]) => key)).to.deep.equal(['b']);
    expect(evicted).to.deep.equal([]);
  });

  it('weighs entries as they are set, and evicts as many as exceed the maximum, be it the new one', () => {
    const evicted: string[] = [];
    const map = new LruMap<string, number[]>({
      max: 5,
      weigh: ({ length }) => length,
      onEvict: (_, key) => evicted.push(key),
    });
    const grown = [1];
    map.set('a', grown);
    map.set('b', [1, 2]);
    grown.push(2, 3, 4, 5);
    map.set('c', [1, 2]);
    expect(evicted, 'a counts as it was set').to.deep.equal([]);
    map.set('d', [1, 2]);
    expect(evicted).to.deep.equal(['a', 'b']);
    map.set('e', [1, 2, 3, 4, 5, 6]);
    expect(evicted).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
    expect(map.size).to.equal(0);
  });

  it('has the same content as a list in the order of use, after any operations', () => {
    const action = fc.record({ name: fc.constantFrom('get', 'peek', 'set', 'delete'), key: fc.nat(6) });
    fc.assert(
      fc.property(fc.array(action), fc.integer({ min: 1, max: 4 }), (actions, max) => {
        const map = new LruMap<number, string>({ max });
        let model: number[] = [];
        for (const { name, key } of actions) {
          const isThere = model.includes(key);
          if (name === 'peek') expect(map.peek(key)).to.equal(isThere ? `${key}` : undefined);
          if (name === 'get') expect(map.get(key)).to.equal(isThere ? `${key}` : undefined);
          if (name === 'set') map.set(key, `${key}`);
          if (name === 'delete') map.delete(key);
          const isUsed = name === 'set' || (name === 'get' && isThere);
          if (isUsed || name === 'delete') model = model.filter((one) => one !== key);
          if (isUsed) model = [...model, key].slice(-max);
        }
        expect([...map].map(([key]) => key)).to.deep.equal(model);
        expect(map.size).to.equal(model.length);
      }),
    );
  });
});
