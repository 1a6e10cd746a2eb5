import { expect } from 'chai';
import fc from 'fast-check';
import { steadyLoad } from '#simulator/kubelet/load.ts';

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
        const most = Math.max(1, Math.ceil(cpu / 1000)) * span * 1e6;
        expect(used).to.be.within(0, most + 1);
      }),
    );
  });

  it('burns in bursts, so that a moment tells nothing of the average', () => {
    const load = steadyLoad(60, 0);
    expect(load.cpuCoreNanoseconds(6)).to.equal(6e6);
    expect(load.cpuCoreNanoseconds(99)).to.equal(6e6);
    expect(load.cpuCoreNanoseconds(103)).to.equal(9e6);
  });

  it('has used nothing before it starts', () => {
    expect(steadyLoad(60, 0).cpuCoreNanoseconds(-5)).to.equal(0);
  });
});
