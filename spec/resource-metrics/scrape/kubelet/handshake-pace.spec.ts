import { expect } from 'chai';
import { HandshakePace } from '#lib/resource-metrics/scrape/kubelet/dialer.ts';

const paceAfter = (...durationsMs: readonly number[]) => {
  const pace = new HandshakePace(3000);
  for (const durationMs of durationsMs) pace.record(durationMs);
  return pace.permitMs;
};
const times = (count: number, durationMs: number) => Array<number>(count).fill(durationMs);

describe('HandshakePace', () => {
  it('returns 250 ms while handshakes are fast, or before the first', () => {
    expect(paceAfter()).to.equal(250);
    expect(paceAfter(...times(16, 20))).to.equal(250);
  });

  it('returns four times the usual duration, up to the timeout', () => {
    expect(paceAfter(...times(16, 300))).to.equal(1200);
    expect(paceAfter(...times(16, 900))).to.equal(3000);
  });

  it('ignores a minority of slow handshakes', () => {
    expect(paceAfter(...times(12, 2900), ...times(4, 20))).to.equal(250);
    expect(paceAfter(2900, 2900, 2900)).to.equal(250);
  });

  it('evicts old durations', () => {
    expect(paceAfter(...times(100, 900), ...times(13, 20))).to.equal(250);
    expect(paceAfter(...times(100, 20), ...times(12, 300))).to.equal(250);
    expect(paceAfter(...times(100, 20), ...times(13, 300))).to.equal(1200);
  });
});
