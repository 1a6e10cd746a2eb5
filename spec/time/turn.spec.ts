import { expect } from 'chai';
import { isTurnOver, nextTurn, OBJECTS_A_TURN } from '#lib/time/turn.ts';

describe('isTurnOver', () => {
  beforeEach(() => nextTurn()); // whatever others have dealt with

  it('says so once many objects were dealt with, one by one or many at once, and until the next turn', async () => {
    const ones = Array.from({ length: OBJECTS_A_TURN + 1 }, () => isTurnOver());
    expect(ones.indexOf(true)).to.equal(OBJECTS_A_TURN - 1);
    expect(ones.at(-1)).to.equal(true);
    await nextTurn();
    expect(isTurnOver(OBJECTS_A_TURN - 1)).to.equal(false);
    expect(isTurnOver()).to.equal(true);
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
});
