import { expect } from 'chai';
import { combineDemands, demandOf } from '#lib/scaled-objects/jobs/job-demand.ts';
import type { ObservedMetric } from '#lib/scaled-objects/metrics/metric-state.ts';

const observed = (target: number, values: readonly number[], isActive = true) =>
  ({ metric: { target }, state: { kind: 'value', values, isActive, atMs: 0 } }) as unknown as ObservedMetric;
const failing = {
  metric: { target: 9 },
  state: { kind: 'failing', error: new Error('refused') },
} as unknown as ObservedMetric;

describe('demandOf', () => {
  it('divides what a trigger told, all of it together, by its target', () => {
    expect(demandOf([observed(5, [10, 2])], 100)).to.deep.equal({
      queueLength: 12,
      jobs: 2.4,
      isActive: true,
    });
    expect(demandOf([observed(5, [4], false)], 100)?.isActive).to.equal(false);
  });

  it('asks for no more than there may be, and for nothing by a target of 0', () => {
    expect(demandOf([observed(1, [10])], 4)).to.deep.equal({ queueLength: 10, jobs: 4, isActive: true });
    expect(demandOf([observed(0, [10])], 4)).to.deep.equal({ queueLength: 10, jobs: 0, isActive: true });
  });

  it('takes of several metrics the mean of their targets, and is active by any that is known', () => {
    const several = [observed(2, [12], false), observed(4, [90])];
    expect(demandOf(several, 100)).to.deep.equal({ queueLength: 12, jobs: 4, isActive: true });
    expect(demandOf([observed(2, [12], false), failing], 100)?.isActive).to.equal(false);
  });

  it('is not known of one that fails, or that has no metric', () => {
    expect(demandOf([failing, observed(1, [1])], 9)).to.equal(undefined);
    expect(demandOf([], 9)).to.equal(undefined);
  });
});

describe('combineDemands', () => {
  const of = (queueLength: number, jobs: number, isActive = true) => ({ queueLength, jobs, isActive });

  it('keeps the first of those that are as long, asks for whole Jobs, and for no more than there may be', () => {
    const [max, min] = [100, 0];
    for (const calculation of ['max', 'min', 'anything'])
      expect(combineDemands([of(4, 1), of(4, 2)], { calculation, max, min }).jobs, calculation).to.equal(1);
    expect(combineDemands([of(4.2, 1.1)], { calculation: 'max', max, min })).to.deep.equal(of(5, 2));
    expect(combineDemands([of(9, 4), of(9, 4)], { calculation: 'sum', max: 5, min })).to.deep.equal(
      of(18, 5),
    );
    expect(combineDemands([of(9, 4, false)], { calculation: 'sum', max, min })).to.deep.equal(
      of(0, 0, false),
    );
  });
});
