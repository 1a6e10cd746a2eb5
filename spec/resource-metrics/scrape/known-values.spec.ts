import { expect } from 'chai';
import { knownAmount, knownAmountOrZero, knownTimeMs } from '#lib/resource-metrics/scrape/known-values.ts';

describe('knownAmount', () => {
  it('knows amounts above 0 and below 2^63, and no others', () => {
    const largest = 2 ** 63 - 1024; // the next double is 2^63
    for (const amount of [Number.MIN_VALUE, 0.5, 1, largest]) expect(knownAmount(amount)).to.equal(amount);
    for (const none of [
      0,
      -0,
      -1,
      2 ** 63,
      Number.POSITIVE_INFINITY,
      Number.NaN,
      '5',
      5n,
      null,
      undefined,
      {},
    ])
      expect(knownAmount(none)).to.equal(undefined);
  });
});

describe('knownAmountOrZero', () => {
  it('knows 0, too', () => {
    for (const amount of [0, 1, 2 ** 63 - 1024]) expect(knownAmountOrZero(amount)).to.equal(amount);
    for (const none of [-1, 2 ** 63, Number.NaN, '0', null, undefined])
      expect(knownAmountOrZero(none)).to.equal(undefined);
  });
});

describe('knownTimeMs', () => {
  it('knows times from 1970 to 9999, and no others', () => {
    const last = Date.parse('9999-12-31T23:59:59.999Z');
    for (const timeMs of [1, last]) expect(knownTimeMs(timeMs)).to.equal(timeMs);
    for (const none of [0, -1, Date.parse('0001-01-01T00:00:00Z'), last + 1, Number.NaN])
      expect(knownTimeMs(none)).to.equal(undefined);
  });
});
