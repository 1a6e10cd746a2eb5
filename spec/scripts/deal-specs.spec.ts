import { expect } from 'chai';
import { deal } from '../../scripts/deal-specs.ts';

describe('deal', () => {
  it('gives each process about the same total, in the given order', () => {
    const durations = { a: 1_000, b: 9_000, c: 4_000, d: 5_000, e: 1_000 };
    const shares = deal(['a', 'b', 'c', 'd', 'e'], { processes: 2, durations });
    expect(shares).to.deep.equal([
      ['a', 'b'],
      ['c', 'd', 'e'],
    ]);
  });

  it('distributes files without a measurement round robin, each once', () => {
    const files = ['a', 'b', 'c', 'd', 'toString'];
    expect(deal(files, { processes: 2, durations: {} })).to.deep.equal([
      ['a', 'c', 'toString'],
      ['b', 'd'],
    ]);
    expect(deal(files, { processes: 1, durations: { a: 5 } })).to.deep.equal([files]);
  });
});
