import { expect } from 'chai';
import { HandshakePace } from '#lib/resource-metrics/scrape/kubelet/dialer.ts';

const paceAfter = (...durationsMs: readonly number[]) => {
  const pace = new HandshakePace(3000);
  for (const durationMs of durationsMs) pace.note(durationMs);
  return pace.permitMs;
};
const times = (count: number, durationMs: number) => Array<number>(count).fill(durationMs);

describe('HandshakePace', () => {
  it('gives a quarter of a second while handshakes are quick, or none was completed', () => {
    expect(paceAfter()).to.equal(250);
    expect(paceAfter(...times(16, 20))).to.equal(250);
  });

  it('gives four times what they take where all take long, but no more than they may', () => {
    expect(paceAfter(...times(16, 300))).to.equal(1200);
    expect(paceAfter(...times(16, 900))).to.equal(3000);
  });

  it('heeds no minority of slow ones', () => {
    expect(paceAfter(...times(12, 2900), ...times(4, 20))).to.equal(250);
    expect(paceAfter(2900, 2900, 2900)).to.equal(250);
  });

  it('forgets what is long past', () => {
    expect(paceAfter(...times(100, 900), ...times(13, 20))).to.equal(250);
    expect(paceAfter(...times(100, 20), ...times(12, 300))).to.equal(250);
    expect(paceAfter(...times(100, 20), ...times(13, 300))).to.equal(1200);
  });
});
