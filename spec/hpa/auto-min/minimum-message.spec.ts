import { expect } from 'chai';
import { changeMessage } from '#lib/hpa/auto-min/minimum-message.ts';

describe('changeMessage', () => {
  it('tells a change with the peaks that it comes from, to three digits, and days without data as such', () => {
    const peaks = [0.123456, undefined, 1234.5, 0, 24.96];
    const change = { from: 10, to: 5, metric: 'Resource cpu utilization', peaks, weights: [5, 4, 3, 2, 1] };
    expect(changeMessage({ ...change, mean: 27.1828, target: 50 })).to.equal(
      'minReplicas from 10 to 5: the peaks of Resource cpu utilization in the last 5 days, the latest first, were 0.123 - 1230 0 25 (weights 5 4 3 2 1), 27.2 in the mean of a target of 50',
    );
  });
});
