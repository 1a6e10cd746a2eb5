import { expect } from 'chai';
import { RecentValues } from '#lib/resource-metrics/pods/recent-values.ts';

describe('RecentValues', () => {
  it('gives the first of equal values', () => {
    const values = new RecentValues<object>(2);
    const first = {};
    expect(values.share('a', first)).to.equal(first);
    expect(values.share('a', {})).to.equal(first);
  });

  it('keeps what is asked for again, and forgets what is not', () => {
    const values = new RecentValues<object>(2);
    const [kept, lost] = [{}, {}];
    values.share('kept', kept);
    values.share('lost', lost);
    for (const key of ['b', 'c', 'd', 'e']) {
      values.share(key, {});
      expect(values.share('kept', {})).to.equal(kept);
    }
    expect(values.share('lost', {})).not.to.equal(lost);
  });
});
