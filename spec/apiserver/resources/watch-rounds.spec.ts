import { expect } from 'chai';
import fc from 'fast-check';
import { objectChanges } from '#lib/apiserver/resources/watch-rounds.ts';
import { Thing } from '#spec/support/served-things.ts';

const states = fc
  .dictionary(
    fc.tuple(fc.constantFrom('m', 'n', 'n-2'), fc.stringMatching(/^[a-c]{1,2}$/)).map((key) => key.join(' ')),
    fc.nat({ max: 2 }),
    { maxKeys: 8 },
  )
  .map((sizes) => {
    const things = Object.keys(sizes)
      .sort()
      .map((key) => {
        const [namespace = '', name = ''] = key.split(' ');
        return new Thing(name, { namespace, size: sizes[key] ?? 0 });
      });
    return [...Map.groupBy(things, ({ namespace }) => namespace).values()];
  });
const isUnchanged = (a: object, b: object) => a instanceof Thing && b instanceof Thing && a.size === b.size;
const keyOf = (thing: { namespace: string | undefined; name: string }) => `${thing.namespace} ${thing.name}`;

describe('objectChanges', () => {
  it('compares objects lazily, as fast as the watcher reads', () => {
    const [first, second] = [[new Thing('a')], [new Thing('b')]];
    let checks = 0;
    Object.defineProperty(second, Symbol.iterator, {
      value: () => {
        checks++;
        return Array.prototype.values.call(second);
      },
    });
    const changes = objectChanges([], [first, second], isUnchanged);
    expect(changes.next().value?.after).to.equal(first[0]);
    expect(checks).to.equal(0);
    expect([...changes].map(({ after }) => after)).to.deep.equal(second);
  });

  it('transforms one state into the other, without events for unchanged objects', () => {
    fc.assert(
      fc.property(states, states, (before, after) => {
        const state = new Map(before.flat().map((thing) => [keyOf(thing), thing.size]));
        for (const { before: was, after: is } of objectChanges(before, after, isUnchanged)) {
          const key = keyOf(is ?? was ?? { namespace: '', name: '' });
          expect(state.get(key)).to.equal((was as Thing | undefined)?.size);
          expect((is as Thing | undefined)?.size).not.to.equal((was as Thing | undefined)?.size);
          if (is) state.set(key, (is as Thing).size);
          else state.delete(key);
        }
        expect(state).to.deep.equal(new Map(after.flat().map((thing) => [keyOf(thing), thing.size])));
      }),
    );
  });

  it('sorts by namespace and name', () => {
    fc.assert(
      fc.property(states, states, (before, after) => {
        const keys = [...objectChanges(before, after, isUnchanged)].map(({ before: was, after: is }) =>
          keyOf(is ?? was ?? { namespace: '', name: '' }),
        );
        expect(keys).to.deep.equal(keys.toSorted());
      }),
    );
  });
});
