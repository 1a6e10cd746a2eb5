import { expect } from 'chai';
import { Turn } from '#lib/time/turn.ts';

describe('Turn', () => {
  it('is over whenever two thousand objects were dealt with, one by one or many at once', () => {
    const turn = new Turn();
    const ones = Array.from({ length: 4_000 }, () => turn.isOver());
    expect(ones.flatMap((isOver, index) => (isOver ? [index] : []))).to.deep.equal([1_999, 3_999]);
    expect([turn.isOver(1_500), turn.isOver(600), turn.isOver(1_500), turn.isOver(10_000)]).to.deep.equal([
      false,
      true,
      false,
      true,
    ]);
  });
});
