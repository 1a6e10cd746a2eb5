import { expect } from 'chai';
import { formatAmount, formatTruncated } from '#lib/scaled-objects/values/amount.ts';

describe('formatAmount', () => {
  for (const [value, text] of [
    [5, '5'],
    [2.5, '2500m'],
    [0.0625, '62m'],
    [0.1875, '188m'],
    [0.0005, '1m'],
    [-1, '0'],
    [Number.NaN, '0'],
    [Number.POSITIVE_INFINITY, '0'],
    [9_007_199_254_740_991, '9007199254740991'],
    [Number.MAX_VALUE, '9223372036854775807'],
  ] as const)
    it(`writes ${value} as ${text}`, () => {
      expect(formatAmount(value)).to.equal(text);
    });
});

describe('formatTruncated', () => {
  it('cuts off what is finer than a thousandth', () => {
    expect([0.0629, 7.9999, -2].map(formatTruncated)).to.deep.equal(['62m', '7999m', '0']);
  });

  it('writes the greatest numbers as the greatest quantity', () => {
    for (const value of [1e19, 1e306, Number.MAX_VALUE])
      expect(formatTruncated(value)).to.equal('9223372036854775807');
  });
});
