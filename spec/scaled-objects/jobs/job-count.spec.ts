import { expect } from 'chai';
import {
  combineDemands,
  demandOf,
  newJobCount,
  type TriggerDemand,
} from '#lib/scaled-objects/jobs/job-count.ts';
import type { ObservedMetric } from '#lib/scaled-objects/metrics/metric-state.ts';

const observed = (target: number, values: readonly number[], isActive = true) =>
  ({ metric: { target }, state: { kind: 'value', values, isActive, atMs: 0 } }) as unknown as ObservedMetric;
const failing = {
  metric: { target: 9 },
  state: { kind: 'failing', error: new Error('refused') },
} as unknown as ObservedMetric;

describe('demandOf', () => {
  it("divides the sum of a trigger's values by its target", () => {
    expect(demandOf([observed(5, [10, 2])], 100)).to.deep.equal({
      queueLength: 12,
      jobs: 2.4,
      isActive: true,
    });
    expect(demandOf([observed(5, [4], false)], 100)?.isActive).to.equal(false);
  });

  it('demands at most the maximum, and nothing for a target of 0', () => {
    expect(demandOf([observed(1, [10])], 4)).to.deep.equal({ queueLength: 10, jobs: 4, isActive: true });
    expect(demandOf([observed(0, [10])], 4)).to.deep.equal({ queueLength: 10, jobs: 0, isActive: true });
  });

  it('uses the mean of the targets of several metrics, and is active if any is', () => {
    const several = [observed(2, [12], false), observed(4, [90])];
    expect(demandOf(several, 100)).to.deep.equal({ queueLength: 12, jobs: 4, isActive: true });
    expect(demandOf([observed(2, [12], false), failing], 100)?.isActive).to.equal(false);
  });

  it('is undefined for a failing trigger, or one without metrics', () => {
    expect(demandOf([failing, observed(1, [1])], 9)).to.equal(undefined);
    expect(demandOf([], 9)).to.equal(undefined);
  });
});

describe('combineDemands', () => {
  const of = (queueLength: number, jobs: number, isActive = true) => ({ queueLength, jobs, isActive });

  it('uses the first of equal queue lengths, rounds up to whole Jobs, and demands at most the maximum', () => {
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

const demand = (queueLength: number, jobs = queueLength) => ({ queueLength, jobs, isActive: true });

describe('newJobCount', () => {
  for (const [what, given, counts, strategy, made] of [
    ['makes what the queue asks for beyond what runs', demand(10), { running: 4 }, {}, 6],
    ['makes no more than the queue is long', demand(3, 10), {}, {}, 3],
    ['makes none where more run than are asked for', demand(2), { running: 5 }, {}, 0],
    ['fills up to the minimum first', demand(9), { running: 1, min: 3 }, {}, 2],
    ['counts those beyond the minimum', demand(9), { running: 5, min: 3 }, {}, 7],
    ['makes none while nothing is active', { ...demand(9), isActive: false }, {}, {}, 0],
    [
      'deducts and takes a part of those that run',
      demand(10),
      { running: 4 },
      { strategy: 'custom', customScalingQueueLengthDeduction: 1, customScalingRunningJobPercentage: '0.5' },
      7,
    ],
    [
      'counts as usual by a percentage that is none',
      demand(10),
      { running: 4 },
      { strategy: 'custom', customScalingRunningJobPercentage: 'x' },
      6,
    ],
    [
      'is accurate: what is pending has its work still in the queue',
      demand(10),
      { running: 4, pending: 3 },
      { strategy: 'accurate' },
      7,
    ],
    [
      'is accurate up to the maximum',
      demand(10),
      { running: 4, pending: 0, max: 12 },
      { strategy: 'accurate' },
      8,
    ],
    [
      'is eager: fills all that is free',
      demand(3, 20),
      { running: 4, pending: 1, max: 20 },
      { strategy: 'eager' },
      15,
    ],
  ] as const)
    it(what, () => {
      const all = { running: 0, pending: 0, min: 0, max: 100, ...counts };
      expect(newJobCount(given, all, strategy)).to.equal(made);
    });
});

describe('combineDemands', () => {
  const demands: readonly TriggerDemand[] = [
    { queueLength: 4, jobs: 2, isActive: true },
    { queueLength: 9, jobs: 3, isActive: true },
    { queueLength: 50, jobs: 50, isActive: false },
  ];
  for (const [calculation, queueLength, jobs] of [
    ['max', 9, 3],
    ['min', 4, 2],
    ['sum', 13, 5],
    ['avg', 7, 3],
  ] as const)
    it(`takes the ${calculation} of what is active`, () => {
      expect(combineDemands(demands, { calculation, min: 0, max: 100 })).to.deep.equal({
        queueLength,
        jobs,
        isActive: true,
      });
    });

  it('is active for its minimum alone', () => {
    expect(combineDemands([], { calculation: 'max', min: 1, max: 9 })).to.deep.equal({
      queueLength: 0,
      jobs: 0,
      isActive: true,
    });
  });
});
