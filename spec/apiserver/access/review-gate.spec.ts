import { expect } from 'chai';
import { ReviewGate } from '#lib/apiserver/access/review-gate.ts';
import { StatusError } from '#lib/apiserver/http/status-error.ts';

describe('ReviewGate', () => {
  it('lets half of what may be under way be of one party, and another begin at once', async () => {
    const { gate, enter, begun } = setUp({ underWay: 4, waiting: 100 });
    for (const name of ['a1', 'a2', 'a3', 'b1']) enter(name);
    expect(await begun()).to.deep.equal(['a1', 'a2', 'b1']);
    expect(gate.waitingCount).to.equal(1);
  });

  it('has the next be of the party with the fewest under way, and its first', async () => {
    const { enter, leave, begun } = setUp({ underWay: 4, waiting: 100 });
    for (const name of ['a1', 'a2', 'b1', 'b2', 'a3', 'b3', 'c1', 'c2']) enter(name);
    await begun();
    leave('a1');
    expect(await begun()).to.deep.equal(['a1', 'a2', 'b1', 'b2', 'c1']);
    leave('a2');
    expect((await begun()).slice(5)).to.deep.equal(['a3']); // a has none under way, c one
    leave('b1');
    expect((await begun()).slice(6)).to.have.length(1);
  });

  it('goes round among parties that have as many', async () => {
    const { enter, leave, begun } = setUp({ underWay: 2, waiting: 100 });
    for (const name of ['a1', 'b1', 'a2', 'a3', 'b2', 'b3', 'c1']) enter(name);
    for (const name of ['a1', 'b1', 'a2', 'b2']) {
      await begun();
      leave(name);
    }
    expect((await begun()).slice(2).sort()).to.deep.equal(['a2', 'a3', 'b2', 'c1']);
  });

  it('refuses with 429 beyond half of those who may wait for one party, and beyond all together', async () => {
    const { gate, enter, failures, refused } = setUp({ underWay: 2, waiting: 4 });
    for (const name of ['a1', 'a2', 'a3', 'a4']) enter(name);
    await failures();
    expect((await failures()).map(([name]) => name)).to.deep.equal(['a4']);
    for (const name of ['b1', 'b2', 'c1', 'c2']) enter(name);
    expect((await failures()).map(([name]) => name)).to.deep.equal(['a4', 'c2']);
    expect((await failures())[0]?.[1])
      .to.be.instanceOf(StatusError)
      .with.property('code', 429);
    expect(refused()).to.equal(2);
    expect(gate.waitingCount).to.equal(4);
  });

  it('forgets who leaves while it waits', async () => {
    const { gate, enter, leave, begun, failures } = setUp({ underWay: 2, waiting: 100 });
    const leaving = new AbortController();
    enter('a1');
    enter('a2', leaving.signal);
    enter('a3');
    leaving.abort(new Error('gone'));
    expect((await failures()).map(([name, { message }]) => [name, message])).to.deep.equal([['a2', 'gone']]);
    leave('a1');
    expect(await begun()).to.deep.equal(['a1', 'a3']);
    expect(gate.waitingCount).to.equal(0);
  });

  it('begins nothing for who has left before', async () => {
    const { enter, begun, failures } = setUp({ underWay: 2, waiting: 100 });
    enter('a1', AbortSignal.abort(new Error('gone')));
    expect(await failures()).to.have.length(1);
    expect(await begun()).to.deep.equal([]);
  });

  it('counts a place that is disposed of twice once', async () => {
    const { gate, enter, leave, begun } = setUp({ underWay: 2, waiting: 100 });
    for (const name of ['a1', 'b1', 'c1', 'd1']) enter(name);
    await begun();
    leave('a1');
    leave('a1');
    expect(await begun()).to.have.length(3);
    expect(gate.waitingCount).to.equal(1);
  });
});

/** A gate, whose reviews are named by their party, which is one letter, and a number. */
function setUp(limits: { readonly underWay: number; readonly waiting: number }) {
  let refused = 0;
  const gate = new ReviewGate(limits, () => refused++);
  const places = new Map<string, Disposable>();
  const errors: [string, Error][] = [];
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    gate,
    enter: (name: string, signal?: AbortSignal) => {
      gate.enter(name.charAt(0), signal).then(
        (place) => places.set(name, place),
        (error: Error) => errors.push([name, error]),
      );
    },
    /** In the order in which they began. */
    begun: async () => {
      await settled();
      return [...places.keys()];
    },
    leave: (name: string) => places.get(name)?.[Symbol.dispose](),
    failures: async () => {
      await settled();
      return errors;
    },
    refused: () => refused,
  };
}
