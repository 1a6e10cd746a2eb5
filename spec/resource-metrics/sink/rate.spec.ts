import { expect } from 'chai';
import fc from 'fast-check';
import { cpuBetween, earlierReading } from '#lib/resource-metrics/sink/rate.ts';
import { at } from '#spec/support/points.ts';

const reading = (seconds: number, cpuCoreNanoseconds = 0) => ({ takenAtMs: at(seconds), cpuCoreNanoseconds });

describe('cpuBetween', () => {
  it('divides the counter difference by the time between the stamps', () => {
    expect(cpuBetween(reading(0, 1_548_975_014), reading(20, 2_776_643_596))).to.equal(61_383_429);
  });

  it('is undefined when the counter fell', () => {
    expect(cpuBetween(reading(0, 2), reading(10, 1))).to.equal(undefined);
  });

  it('is zero when an idle container used nothing', () => {
    expect(cpuBetween(reading(0, 12_046_741), reading(20, 12_046_741))).to.equal(0);
  });

  it('loses less than a microcore to doubles, three years into the life of a busy 64-core node', () => {
    const coreNanoseconds = fc.bigInt(0n, 64n * 3n * 365n * 86_400n * 1_000_000_000n);
    const rate = fc.bigInt(0n, 64_000_000_000n);
    fc.assert(
      fc.property(coreNanoseconds, rate, fc.integer({ min: 10, max: 300 }), (before, nanocores, seconds) => {
        const after = before + nanocores * BigInt(seconds);
        const measured = cpuBetween(reading(0, Number(before)), reading(seconds, Number(after)));
        expect(Math.abs((measured ?? Number.NaN) - Number(nanocores))).to.be.below(1000);
      }),
    );
  });
});

describe('earlierReading', () => {
  const seconds = (readings: number[], stampResolution: 'second' | 'millisecond') => {
    const found = earlierReading(
      readings.map((each) => reading(each)),
      stampResolution,
    );
    return found && (found.takenAtMs - at(0)) / 1000;
  };

  it('is the latest that lies 30 s or more back, with whole-second stamps', () => {
    expect(seconds([0, 15, 30, 45, 60], 'second')).to.equal(30);
    expect(seconds([0, 60], 'second')).to.equal(0);
  });

  it('is the earliest that lies 10 s or more back while none lies 30 s back', () => {
    expect(seconds([0, 12, 27], 'second')).to.equal(0);
    expect(seconds([0, 12], 'second')).to.equal(0);
  });

  it('is undefined while all lie closer than 10 s', () => {
    expect(seconds([0, 9], 'second')).to.equal(undefined);
    expect(seconds([0, 9.999], 'millisecond')).to.equal(undefined);
    expect(seconds([0], 'second')).to.equal(undefined);
  });

  it('is the latest that lies 10 s or more back, with millisecond stamps', () => {
    expect(seconds([0, 15.002, 30.001, 45], 'millisecond')).to.equal(30.001);
    expect(seconds([0, 15, 20], 'millisecond')).to.equal(0);
  });
});
