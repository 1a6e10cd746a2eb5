import { expect } from 'chai';
import { takesGzip } from '#lib/apiserver/negotiation/accept-encoding.ts';

describe('takesGzip', () => {
  const cases: readonly [string, boolean][] = [
    ['', false],
    ['gzip', true],
    ['deflate, gzip;q=1.0, *;q=0.5', true],
    ['gzip;q=0.001', true],
    ['gzip ; q = 0.5', true],
    ['br, \tgzip', true],
    ['gzip;q=0', false],
    ['gzip;q=0.000', false],
    ['gzip;q= 0', false],
    ['gzip ; q = 0 ', false],
    ['*', false],
    ['xgzip, gzipx', false],
    ['deflate;q=gzip', false],
  ];
  for (const [header, isTaken] of cases) {
    it(`is ${isTaken} for "${header}"`, () => {
      expect(takesGzip(header)).to.equal(isTaken);
    });
  }
});
