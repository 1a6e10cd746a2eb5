import { expect } from 'chai';
import fc from 'fast-check';
import { NodeClock } from '#simulator/kubelet/node-clock.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('NodeClock', () => {
  it("stamps by its own wall clock, which may be ahead of the cluster's", () => {
    const clock = new ManualClock();
    expect(new NodeClock(clock, 5000).stampMs(clock.monotonicMs())).to.equal(clock.nowMs() + 5000);
  });

  it('returns the same timestamp of a moment at any time, though the wall clock has whole milliseconds', () => {
    let nowMs = 1000.25;
    let aheadMs = 0;
    const clock = { nowMs: () => Math.floor(nowMs + aheadMs), monotonicMs: () => nowMs };
    const node = new NodeClock(Object.assign(new ManualClock(), clock));
    const stamps = Array.from({ length: 20 }, () => {
      nowMs += 0.37;
      return node.stampMs(999.9);
    });
    expect(new Set(stamps).size).to.equal(1);
    aheadMs = 60_000; // an administrator set the clocks of all
    expect(node.stampMs(999.9) - (stamps[0] ?? Number.NaN)).to.be.within(59_998, 60_002);
  });

  it('leaves timestamps from before a step unchanged', async () => {
    const clock = new ManualClock();
    const node = new NodeClock(clock, 1000);
    const before = node.stampMs(clock.monotonicMs());
    await clock.advance(60_000);
    node.skewMs = -3_600_000;
    expect(node.skewMs).to.equal(-3_600_000);
    expect(node.stampMs(0)).to.equal(before);
    expect(node.stampMs(60_000)).to.equal(clock.nowMs() - 3_600_000);
  });

  it('finds the time of a timestamp, the latest if it occurred twice', async () => {
    const clock = new ManualClock();
    const node = new NodeClock(clock);
    await clock.advance(60_000);
    node.skewMs = -20_000;
    await clock.advance(60_000);
    const shownTwice = node.stampMs(50_000);
    expect(node.trace(shownTwice, 1)?.momentMs).to.equal(70_000);
    node.skewMs = -3_600_000;
    expect(node.trace(shownTwice, 1)?.momentMs).to.equal(70_000);
    node.skewMs = -20_000;
    fc.assert(
      fc.property(fc.integer({ min: 60_000, max: 120_000 }), (momentMs) => {
        const wholeSecond = Math.floor(node.stampMs(momentMs) / 1000) * 1000;
        expect(momentMs - (node.trace(wholeSecond, 1000)?.momentMs ?? 0)).to.be.within(0, 999);
      }),
    );
  });
});
