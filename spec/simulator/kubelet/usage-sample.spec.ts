import { expect } from 'chai';
import fc from 'fast-check';
import {
  latestHousekeeping,
  latestNodeHousekeeping,
  sampleCounter,
} from '#simulator/kubelet/usage-sample.ts';

describe('latestHousekeeping', () => {
  it('samples a cgroup when it appears, and then every 10 to 20 s', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(1e9), fc.nat(1e6), (id, startedAtMs, ageMs) => {
        const check = latestHousekeeping(id, startedAtMs, startedAtMs + ageMs);
        expect(startedAtMs + ageMs - check.takenAtMs).to.be.within(0, 20_000);
        if (check.previousAtMs === undefined) expect(check.takenAtMs).to.equal(startedAtMs);
        else expect(check.takenAtMs - check.previousAtMs).to.be.within(10_000, 20_000);
      }),
    );
  });

  it('samples at intervals of different lengths', () => {
    const intervals = [1, 2, 3, 4, 5].map((round) => {
      const { takenAtMs, previousAtMs = 0 } = latestHousekeeping('a', 0, round * 15_000 + 2500);
      return takenAtMs - previousAtMs;
    });
    expect(new Set(intervals).size).to.be.greaterThan(2);
  });

  it('has a rhythm for each cgroup', () => {
    const checks = ['a', 'b', 'c', 'd'].map((id) => latestHousekeeping(id, 0, 100_000).takenAtMs);
    expect(new Set(checks).size).to.be.greaterThan(1);
  });
});

describe('latestNodeHousekeeping', () => {
  it('samples a node every 10.02 s', () => {
    expect(latestNodeHousekeeping(5, 10_024)).to.deep.equal({ takenAtMs: 5, previousAtMs: undefined });
    expect(latestNodeHousekeeping(5, 10_025)).to.deep.equal({ takenAtMs: 10_025, previousAtMs: 5 });
  });
});

describe('sampleCounter', () => {
  it('has the mean rate, and 0 after a single sample', () => {
    const counter = (atMs: number) => atMs * 60_000;
    expect(sampleCounter({ takenAtMs: 30_000, previousAtMs: 15_000 }, counter).usageNanoCores).to.equal(
      60_000_000,
    );
    expect(sampleCounter({ takenAtMs: 0, previousAtMs: undefined }, counter).usageNanoCores).to.equal(0);
  });
});
