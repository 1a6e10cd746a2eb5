import { expect } from 'chai';
import { bucketsIn, quantileOfBuckets } from './scrape-buckets.ts';

const bucket = (node: string, le: string, count: number) =>
  `metrics_server_kubelet_request_duration_seconds_bucket{node="${node}",le="${le}"} ${count}\n`;

describe('bucketsIn', () => {
  it('sums up what there is of all nodes, and reads nothing else', () => {
    const text = `# HELP x\n${bucket('a', '0.1', 1)}${bucket('b', '0.1', 2)}${bucket('b', '+Inf', 3)}other_bucket{le="0.1"} 9\n`;
    expect([...bucketsIn(text)]).to.deep.equal([
      [0.1, 3],
      [Number.POSITIVE_INFINITY, 3],
    ]);
  });
});

describe('quantileOfBuckets', () => {
  const before = new Map([
    [0.1, 5],
    [1, 5],
  ]);

  it('returns the bucket that contains the quantile of new observations', () => {
    const after = new Map([
      [1, 105],
      [0.1, 95],
    ]);
    expect([0.5, 0.9, 0.99].map((share) => quantileOfBuckets(before, after, share))).to.deep.equal([
      0.1, 0.1, 1,
    ]);
  });

  it('is undefined without new observations', () => {
    expect(quantileOfBuckets(before, before, 0.99)).to.equal(undefined);
    expect(quantileOfBuckets(new Map(), new Map(), 0.99)).to.equal(undefined);
  });
});
