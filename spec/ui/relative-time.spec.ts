import { expect } from 'chai';
import { ago, ahead, lasting, shortDuration } from '#lib/ui/relative-time.ts';

const NOW = Date.UTC(2026, 0, 2);

describe('relative times', () => {
  it('render a duration with the timestamp as tooltip', () => {
    expect(`${ago(NOW - 65_000, NOW)}`).to.equal(
      '<time datetime="2026-01-01T23:58:55Z" title="2026-01-01T23:58:55Z">1m5s ago</time>',
    );
    expect(`${ahead(NOW + 3_600_000, NOW)}`).to.include('>in 1h<');
    expect(`${lasting(NOW - 240_000, NOW)}`).to.include('>for 4m<');
  });

  it('render past events as now, and future ones as 0s ago', () => {
    expect(`${ahead(NOW - 1, NOW)}`).to.include('>now<');
    expect(`${ago(NOW + 5_000, NOW)}`).to.include('>0s ago<');
  });

  it('render invalid times as a dash', () => {
    expect(`${ago(Number.NaN, NOW)}`).to.equal('–');
    expect(`${ahead(9e15, NOW)}`).to.equal('–');
  });
});

describe('shortDuration', () => {
  it('formats at most two units', () => {
    const texts = [0, 400, 999, 59_600, 60_000, 3_599_000, 3_600_000, 5_430_000, 172_800_000].map(
      shortDuration,
    );
    expect(texts).to.deep.equal(['0s', '0s', '1s', '1m', '1m', '59m59s', '1h', '1h31m', '2d']);
  });
});
