import { expect } from 'chai';
import { combineDemands, type TriggerDemand } from '#lib/scaled-objects/jobs/job-demand.ts';
import { newJobCount } from '#lib/scaled-objects/jobs/new-job-count.ts';

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
