import { expect } from 'chai';
import fc from 'fast-check';
import { type ObjectChange, ObjectIndex, ObjectStore } from '#lib/kubernetes/informer/object-store.ts';

interface Item {
  readonly labels: Readonly<Record<string, string>>;
}

describe('ObjectStore', () => {
  let changes: ObjectChange<Item>[];
  let store: ObjectStore<Item>;

  beforeEach(() => {
    changes = [];
    store = new ObjectStore((change) => changes.push(change));
  });

  it('returns the same object, and reports nothing, when it did not change', () => {
    store.set('a', { version: 1, value: item('x') });
    const before = store.get('a');
    store.set('a', { version: 2, value: item('x') });
    expect(store.get('a')).to.equal(before);
    expect(changes).to.have.length(1);
  });

  it('reports the previous and the current object of each change', () => {
    store.set('a', { version: 1, value: item('x') });
    store.set('a', { version: 2, value: item('y') });
    store.delete('a', 3);
    expect(changes).to.deep.equal([
      { key: 'a', previous: undefined, current: item('x') },
      { key: 'a', previous: item('x'), current: item('y') },
      { key: 'a', previous: item('y'), current: undefined },
    ]);
  });

  it('reports the difference to a list', () => {
    for (const key of ['a', 'b', 'c']) store.set(key, { version: 1, value: item(key) });
    changes.length = 0;
    store.replace(
      new Map([
        ['a', { version: 5, value: store.reuse('a', item('a')) }],
        ['b', { version: 5, value: store.reuse('b', item('x')) }],
        ['d', { version: 5, value: store.reuse('d', item('d')) }],
      ]),
    );
    expect(changes).to.deep.equal([
      { key: 'b', previous: item('b'), current: item('x') },
      { key: 'd', previous: undefined, current: item('d') },
      { key: 'c', previous: item('c'), current: undefined },
    ]);
    expect([...store.values()]).to.deep.equal([item('a'), item('x'), item('d')]);
  });

  it('accepts objects in order of arrival when their versions are not numbers', () => {
    store.set('a', { version: Number.NaN, value: item('x') });
    store.set('a', { version: Number.NaN, value: item('y') });
    expect(store.get('a')).to.deep.equal(item('y'));
    store.delete('a', Number.NaN);
    expect(store.size).to.equal(0);
  });

  it('ends up the same when events come twice or out of order', () => {
    const event = fc.record({
      key: fc.constantFrom('a', 'b'),
      label: fc.option(fc.constantFrom('x', 'y', 'z')),
    });
    const history = fc
      .array(event, { maxLength: 8 })
      .map((events) => events.map(({ key, label }, index) => ({ key, label, version: index + 1 })));
    const disorder = history.chain((events) =>
      fc.tuple(
        fc.constant(events),
        fc.shuffledSubarray([...events, ...events], { minLength: events.length * 2 }),
      ),
    );
    fc.assert(
      fc.property(disorder, ([events, disordered]) => {
        const inOrder = stateAfter(events);
        expect(stateAfter(disordered)).to.deep.equal(inOrder);
      }),
    );
  });

  it('reports the final state of a deletion, where it is known', () => {
    store.set('a', { version: 1, value: item('x') });
    store.set('b', { version: 1, value: item('x') });
    const before = store.get('b');
    changes.length = 0;
    store.delete('a', 3, item('y'));
    store.delete('b', 3, item('x'));
    expect(changes).to.deep.equal([
      { key: 'a', previous: item('y'), current: undefined },
      { key: 'b', previous: item('x'), current: undefined },
    ]);
    expect(changes[1]?.previous).to.equal(before);
  });

  it('updates indexes and objects before it reports a change', () => {
    const observed: unknown[] = [];
    const indexed: ObjectStore<Item> = new ObjectStore<Item>(
      ({ key }) => observed.push([key, found('x'), found('y')]),
      { label: ({ labels }) => Object.values(labels) },
    );
    const found = (word: string) => [...indexed.find('label', word)].length;
    indexed.set('a', { version: 1, value: item('x') });
    indexed.set('b', { version: 1, value: item('x') });
    indexed.set('a', { version: 2, value: item('y') });
    indexed.delete('b', 3, item('y'));
    indexed.replace(
      new Map([
        ['b', { version: 4, value: item('x') }],
        ['c', { version: 4, value: item('x') }],
      ]),
    );
    expect(observed).to.deep.equal([
      ['a', 1, 0],
      ['b', 2, 0],
      ['a', 1, 1],
      ['b', 0, 1],
      ['b', 2, 0],
      ['c', 2, 0],
      ['a', 2, 0],
    ]);
    expect(() => [...indexed.find('none', 'x')]).to.throw('Cannot look up "x": index none');
  });

  it('finds an object under no value of an index that throws', () => {
    const indexed = new ObjectStore<Item>(() => {}, {
      label: ({ labels }) => {
        if (labels.label === 'broken') throw new Error('broken');
        return Object.values(labels);
      },
    });
    indexed.set('a', { version: 1, value: item('broken') });
    indexed.set('a', { version: 2, value: item('x') });
    expect([...indexed.find('label', 'x')]).to.have.length(1);
    expect([...indexed.find('label', 'broken')]).to.deep.equal([]);
  });

  it('clears deletions at a list, since versions may begin again', () => {
    store.delete('a', 100);
    store.replace(new Map());
    store.set('a', { version: 41, value: item('x') });
    expect(store.get('a')).to.deep.equal(item('x'));
  });

  it('ignores an event from before a list without the object', () => {
    store.set('a', { version: 3, value: item('x') });
    store.replace(new Map([['b', { version: 2, value: item('x') }]]), 10);
    store.set('a', { version: 10, value: item('late') });
    store.set('b', { version: 9, value: item('y') });
    expect(store.get('a')).to.equal(undefined);
    expect(store.get('b')).to.deep.equal(item('y'));
    store.set('a', { version: 11, value: item('z') });
    expect(store.get('a')).to.deep.equal(item('z'));
  });

  it('applies a version once, and a deletion with the last version', () => {
    store.set('a', { version: 1, value: item('x') });
    store.set('a', { version: 1, value: item('y') });
    expect(store.get('a')).to.deep.equal(item('x'));
    store.delete('a', 1);
    expect(store.get('a')).to.equal(undefined);
  });

  it('retains the latest of several deletions, in any order', () => {
    for (const version of [5, 3, Number.NaN]) store.delete('a', version);
    store.set('a', { version: 4, value: item('late') });
    expect(store.get('a')).to.equal(undefined);
  });

  it('retains a second deletion for longer', () => {
    store.delete('first', 10);
    for (let index = 0; index < 1023; index++) store.delete(`gone-${index}`, 10);
    store.delete('first', 11);
    store.delete('another', 12);
    store.set('first', { version: 9, value: item('late') });
    expect(store.get('first')).to.equal(undefined);
  });

  it('finds nothing under the values of a deleted object, even if it is recreated with others', () => {
    const indexed = new ObjectStore<Item>(() => {}, { label: ({ labels }) => Object.values(labels) });
    indexed.set('a', { version: 1, value: item('x') });
    indexed.delete('a', 2);
    indexed.set('a', { version: 3, value: item('y') });
    expect([...indexed.find('label', 'x')]).to.deep.equal([]);
  });

  it('evicts old deletions', () => {
    for (let index = 0; index < 3000; index++) store.delete(`gone-${index}`, 10);
    store.set('gone-2999', { version: 9, value: item('late') });
    store.set('gone-0', { version: 9, value: item('late') });
    expect(store.get('gone-2999')).to.equal(undefined);
    expect(store.get('gone-0')).to.deep.equal(item('late'));
  });
});

function stateAfter(
  events: readonly { readonly key: string; readonly label: string | null; readonly version: number }[],
): Record<string, unknown> {
  const store = new ObjectStore<Item>(() => {});
  for (const { key, label, version } of events) {
    if (label === null) store.delete(key, version);
    else store.set(key, { version, value: item(label) });
  }
  return { a: store.get('a'), b: store.get('b') };
}

function item(label: string): Item {
  return { labels: { label } };
}

const indexOfWords = () => new ObjectIndex<readonly string[]>((words) => words);

describe('ObjectIndex', () => {
  it('finds the keys of objects under each of their values, as long as they have them', () => {
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

  it('finds an object once under an index key that occurs twice', () => {
    const index = indexOfWords();
    index.apply({ key: 'a', previous: undefined, current: ['x', 'x'] });
    expect([...index.keys('x')]).to.deep.equal(['a']);
    index.apply({ key: 'a', previous: ['x', 'x'], current: undefined });
    expect([...index.keys('x')]).to.deep.equal([]);
  });

  it('finds an object under no value if its function throws', () => {
    const index = new ObjectIndex<string>(() => {
      throw new Error('no words');
    });
    index.apply({ key: 'a', previous: undefined, current: 'x' });
    expect([...index.keys('x')]).to.deep.equal([]);
  });
});
