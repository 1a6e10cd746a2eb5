import { expect } from 'chai';
import { endsTurn, inOrder, nextTurn, OBJECTS_A_TURN } from '#lib/time/turn.ts';

describe('endsTurn', () => {
  beforeEach(() => nextTurn()); // whatever others have dealt with

  it('says so once many objects were dealt with, one by one or many at once, and until the next turn', async () => {
    const ones = Array.from({ length: OBJECTS_A_TURN + 1 }, () => endsTurn());
    expect(ones.indexOf(true)).to.equal(OBJECTS_A_TURN - 1);
    expect(ones.at(-1)).to.equal(true);
    await nextTurn();
    expect(endsTurn(OBJECTS_A_TURN - 1)).to.equal(false);
    expect(endsTurn()).to.equal(true);
  });
});

describe('nextTurn', () => {
  it('gives one after the other their turn, and lets others go on in between', async () => {
    const seen: string[] = [];
    const turns = ['a', 'b'].map((name) => nextTurn().then(() => seen.push(name)));
    const others = [1, 2].map((_each, index) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const later = () => {
        seen.push('other');
        resolve();
      };
      setImmediate(index === 0 ? later : () => setImmediate(later));
      return promise;
    });
    await Promise.all([...turns, ...others]);
    expect(seen).to.deep.equal(['a', 'other', 'b', 'other']);
  });

  it('fails when the signal has aborted by then', async () => {
    const leaving = new AbortController();
    const turn = nextTurn(leaving.signal).catch((error: unknown) => error);
    const reason = new Error('gone');
    leaving.abort(reason);
    expect(await turn).to.equal(reason);
  });
});

describe('inOrder', () => {
  it('begins each work when the one before has ended, well or not, and none that nobody waits for', async () => {
    const seen: string[] = [];
    const work = (name: string, fault?: Error) => async () => {
      seen.push(`${name} begins`);
      await nextTurn();
      seen.push(`${name} ends`);
      if (fault) throw fault;
      return name;
    };
    const fault = new Error('broken');
    const reason = new Error('gone');
    const results = await Promise.allSettled([
      inOrder(work('a')),
      inOrder(work('b', fault)),
      inOrder(work('c'), AbortSignal.abort(reason)),
      inOrder(work('d')),
    ]);
    expect(seen).to.deep.equal(['a begins', 'a ends', 'b begins', 'b ends', 'd begins', 'd ends']);
    expect(results).to.deep.equal([
      { status: 'fulfilled', value: 'a' },
      { status: 'rejected', reason: fault },
      { status: 'rejected', reason },
      { status: 'fulfilled', value: 'd' },
    ]);
  });
});
