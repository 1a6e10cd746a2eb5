import { expect } from 'chai';
import { median, quantile } from './quantile.ts';

describe('quantile', () => {
  it('is a value that occurred', () => {
    expect(quantile([1, 2, 3, 4], 0.5)).to.equal(2);
    expect(quantile([1, 2, 3, 4], 0.99)).to.equal(4);
    expect(quantile([7], 0.5)).to.equal(7);
  });
});

describe('median', () => {
  it('does not mind the order', () => {
    expect(median([9, 1, 5])).to.equal(5);
  });

  it('is NaN without values', () => {
    expect(median([])).to.deep.equal(Number.NaN);
  });
});
