import { expect } from 'chai';
import fc from 'fast-check';
import { RunningContainer, steadyLoad } from '#simulator/kubelet/running-container.ts';

describe('RunningContainer', () => {
  const second = 1000;
  const start = () => new RunningContainer('burn', steadyLoad(100, 4096), { startedAtMs: 0 });

  it('counts from its start', () => {
    expect(start().cpuCoreNanoseconds(10 * second)).to.equal(1e9);
  });

  it('counts from zero after a restart, while the node remembers', () => {
    const container = start();
    container.restart(10 * second);
    expect(container.startedAtMs(12 * second)).to.equal(10 * second);
    expect(container.cpuCoreNanoseconds(12 * second)).to.equal(0.2e9);
    expect(container.lifetimeCoreNanoseconds(12 * second)).to.equal(1.2e9);
  });

  it('computes usage at moments before a restart', () => {
    const container = start();
    container.restart(10 * second);
    expect(container.startedAtMs(9 * second)).to.equal(0);
    expect(container.cpuCoreNanoseconds(9 * second)).to.equal(0.9e9);
  });

  it('continues to count under another load', () => {
    const container = start();
    container.changeLoad(steadyLoad(1000, 8192), 10 * second);
    expect(container.cpuCoreNanoseconds(11 * second)).to.equal(2e9);
    expect(container.memoryBytes(11 * second)).to.equal(8192);
    expect(container.memoryBytes(9 * second)).to.equal(4096);
    expect(container.startedAtMs(11 * second)).to.equal(0);
  });

  it('uses nothing between a stop and a restart, under the load that it had', () => {
    const container = start();
    container.stop(10 * second);
    expect(container.isRunning(9 * second)).to.equal(true);
    expect(container.isRunning(11 * second)).to.equal(false);
    expect(container.memoryBytes(11 * second)).to.equal(0);
    container.restart(20 * second);
    expect(container.isRunning(21 * second)).to.equal(true);
    expect(container.cpuCoreNanoseconds(21 * second)).to.equal(0.1e9);
    expect(container.lifetimeCoreNanoseconds(21 * second)).to.equal(1.1e9);
  });

  describe('nanocoresSinceLastRequest', () => {
    it('returns 0 at the first request', () => {
      expect(start().nanocoresSinceLastRequest(10 * second)).to.equal(0);
    });

    it('covers the time since the last request, however short', () => {
      const container = start();
      container.nanocoresSinceLastRequest(10 * second);
      expect(container.nanocoresSinceLastRequest(20 * second)).to.equal(100_000_000);
      expect(container.nanocoresSinceLastRequest(20 * second + 28)).to.be.greaterThan(300_000_000);
      expect(container.nanocoresSinceLastRequest(20 * second + 56)).to.equal(0);
    });

    it('returns 0 right after a restart', () => {
      const container = start();
      container.nanocoresSinceLastRequest(10 * second);
      container.restart(11 * second);
      expect(container.nanocoresSinceLastRequest(12 * second)).to.equal(0);
    });
  });
});

describe('steadyLoad', () => {
  const millicores = fc.integer({ min: 0, max: 8000 });
  const life = fc.double({ min: 0, max: 1e9, noNaN: true });

  it('is exact over whole tenths of a second', () => {
    fc.assert(
      fc.property(millicores, fc.nat(1e6), (cpu, tenths) => {
        expect(steadyLoad(cpu, 0).cpuCoreNanoseconds(tenths * 100)).to.equal(cpu * 100_000 * tenths);
      }),
    );
  });

  it('never falls, and never uses more cores than it needs', () => {
    fc.assert(
      fc.property(millicores, life, fc.double({ min: 0, max: 500, noNaN: true }), (cpu, from, span) => {
        const load = steadyLoad(cpu, 0);
        const used = load.cpuCoreNanoseconds(from + span) - load.cpuCoreNanoseconds(from);
        const max = Math.max(1, Math.ceil(cpu / 1000)) * span * 1e6;
        expect(used).to.be.within(0, max + 1);
      }),
    );
  });

  it('uses CPU in bursts', () => {
    const load = steadyLoad(60, 0);
    expect(load.cpuCoreNanoseconds(6)).to.equal(6e6);
    expect(load.cpuCoreNanoseconds(99)).to.equal(6e6);
    expect(load.cpuCoreNanoseconds(103)).to.equal(9e6);
  });

  it('has used nothing before it starts', () => {
    expect(steadyLoad(60, 0).cpuCoreNanoseconds(-5)).to.equal(0);
  });
});
