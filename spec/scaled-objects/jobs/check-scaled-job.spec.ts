import { expect } from 'chai';
import { checkScaledJob } from '#lib/scaled-objects/jobs/check-scaled-job.ts';
import type { ScaledJob } from '#lib/scaled-objects/objects/scaled-job.ts';

const CRON = { type: 'cron', metadata: {} };
const TRIGGERS = "ScaledJob doesn't have correct triggers specification";

describe('checkScaledJob', () => {
  for (const [spec, told] of [
    [{ jobTargetRef: {}, triggers: [CRON] }, undefined],
    [{ triggers: [CRON] }, 'ScaledJob.spec.jobTargetRef not found'],
    [{ jobTargetRef: {}, triggers: [] }, `${TRIGGERS}: no triggers defined in the ScaledObject/ScaledJob`],
    [{ jobTargetRef: {}, triggers: Array(100).fill(CRON) }, undefined],
    [
      { jobTargetRef: {}, triggers: Array(101).fill(CRON) },
      `${TRIGGERS}: the ScaledObject/ScaledJob has 101 triggers, maximum allowed is 100`,
    ],
    [
      {
        jobTargetRef: {},
        triggers: [
          { ...CRON, name: 'a' },
          { ...CRON, name: 'a' },
        ],
      },
      `${TRIGGERS}: triggerName "a" is defined multiple times in the ScaledObject/ScaledJob, but it must be unique`,
    ],
    [
      { jobTargetRef: {}, triggers: [{ ...CRON, useCachedMetrics: true }] },
      `${TRIGGERS}: property "useCachedMetrics" is not supported for "cron" scaler`,
    ],
    [
      { jobTargetRef: {}, triggers: [{ ...CRON, metricType: 'AverageValue' }] },
      'Cannot set metricType in ScaledJob triggers',
    ],
  ] as const) {
    it(`says ${JSON.stringify(told)} of ${JSON.stringify(spec)}`, () => {
      expect(fullOf(() => checkScaledJob({ metadata: { name: 'a' }, spec } as ScaledJob))).to.equal(told);
    });
  }
});

/** What the event says, which has more than the condition. */
function fullOf(check: () => void): unknown {
  try {
    check();
  } catch (error) {
    return (error as { readonly full: string }).full;
  }
  return undefined;
}
