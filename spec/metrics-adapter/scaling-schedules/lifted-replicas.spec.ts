import { expect } from 'chai';
import { liftedReplicas } from '#lib/metrics-adapter/scaling-schedules/lifted-replicas.ts';

const schedule = { kind: 'ScalingSchedule', key: 'default/nightly' };
const facts = { current: 95, most: 200, tolerance: 0.1 };

describe('liftedReplicas', () => {
  it('lifts what is within the tolerance, and says by which schedule', () => {
    expect(liftedReplicas([{ schedule, value: 1000, averageValue: 10 }], facts)).to.deep.equal({
      replicas: 100,
      schedule,
    });
    expect(liftedReplicas([{ schedule, value: 951, averageValue: 10 }], facts)?.replicas).to.equal(96);
  });

  it('leaves alone what the HPA scales by itself, and what is enough', () => {
    for (const value of [1100, 950, 900, 0])
      expect(liftedReplicas([{ schedule, value, averageValue: 10 }], facts), String(value)).to.equal(
        undefined,
      );
  });

  it('goes no further than the HPA may', () => {
    const target = { schedule, value: 1000, averageValue: 10 };
    expect(liftedReplicas([target], { ...facts, most: 97 })?.replicas).to.equal(97);
    expect(liftedReplicas([target], { ...facts, most: 95 })).to.equal(undefined);
  });

  it('takes the highest of several', () => {
    const targets = [960, 1000].map((value) => ({ schedule, value, averageValue: 10 }));
    expect(liftedReplicas(targets, facts)?.replicas).to.equal(100);
  });

  it('never starts what is at zero, and divides by nothing', () => {
    const target = { schedule, value: 10, averageValue: 10 };
    expect(liftedReplicas([target], { ...facts, current: 0 })).to.equal(undefined);
    expect(liftedReplicas([{ ...target, averageValue: 0 }], facts)).to.equal(undefined);
  });
});
