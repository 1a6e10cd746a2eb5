import { expect } from 'chai';
import fc from 'fast-check';
import { formatDuration, parseDurationMs } from '#lib/time/duration.ts';
import { growthOf } from '#spec/reliability/foreign-text/growth.ts';

describe('parseDurationMs', () => {
  for (const [text, durationMs] of [
    ['0', 0],
    ['60s', 60_000],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['250ms', 250],
    ['10us', 0.01],
    ['10µs', 0.01],
    ['-2s', -2000],
    ['+2s', 2000],
  ] as const) {
    it(`parses ${text}`, () => expect(parseDurationMs(text)).to.equal(durationMs));
  }

  for (const text of ['', '10', 's', '1d', '1 s', '1m30', '--1s', '1e3s', 'NaNs', '1s ']) {
    it(`rejects "${text}"`, () => expect(parseDurationMs(text)).to.equal(undefined));
  }
});

describe('formatDuration', () => {
  for (const [durationMs, text] of [
    [0, '0s'],
    [14_997, '14.997s'],
    [60_000, '1m0s'],
    [90_000, '1m30s'],
    [3_600_000, '1h0m0s'],
    [10_023, '10.023s'],
    [250, '250ms'],
    [0.01, '10µs'],
    [0.000001, '1ns'],
    [-2000, '-2s'],
  ] as const) {
    it(`formats ${text}`, () => expect(formatDuration(durationMs)).to.equal(text));
  }

  it('formats texts that parseDurationMs parses', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (durationMs) => {
        expect(parseDurationMs(formatDuration(durationMs))).to.be.closeTo(durationMs, 1e-3);
      }),
    );
  });

  it('sums adjacent parts', () => {
    expect(parseDurationMs('+1m1.5s')).to.equal(61_500);
    expect(parseDurationMs('-1m30s')).to.equal(-90_000);
  });

  it('parses half a million digits in linear time', async () => {
    const textOf = (digits: number) => `${'1'.repeat(digits)}x`;
    const long = textOf(500_000);
    expect(parseDurationMs(long)).to.equal(undefined);
    expect(await growthOf(parseDurationMs, { short: textOf(7_800), long, parts: 64 })).to.include({
      isLinear: true,
    });
  });
});
