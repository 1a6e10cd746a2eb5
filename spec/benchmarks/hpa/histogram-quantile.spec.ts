import { expect } from 'chai';
import { boundOf, bucketsOf, bucketsSince } from './histogram-quantile.ts';

const EXPOSITION = `# TYPE lag histogram
lag_bucket{le="0.1"} 5
lag_bucket{le="1"} 9
lag_bucket{le="+Inf"} 10
lag_sum 3
lag_count 10
lag_other_bucket{le="0.1"} 7`;

describe('bucketsOf', () => {
  it('reads one histogram of an exposition', () => {
    expect([...bucketsOf(EXPOSITION, 'lag')]).to.deep.equal([
      [0.1, 5],
      [1, 9],
      [Number.POSITIVE_INFINITY, 10],
    ]);
  });
});

describe('boundOf', () => {
  it('is the least bound that a share does not exceed', () => {
    const buckets = bucketsOf(EXPOSITION, 'lag');
    expect([0.5, 0.51, 0.9, 1].map((share) => boundOf(buckets, share))).to.deep.equal([
      0.1,
      1,
      1,
      Number.POSITIVE_INFINITY,
    ]);
    expect(boundOf(bucketsSince(buckets, buckets), 0.5)).to.deep.equal(Number.NaN);
    const more = new Map(buckets).set(0.1, 6).set(1, 10).set(Number.POSITIVE_INFINITY, 11);
    expect(boundOf(bucketsSince(buckets, more), 1)).to.equal(0.1);
  });
});
