import { expect } from 'chai';
import { Collection } from '#lib/collection/collection.ts';
import { JobMemories } from '#lib/scaled-objects/jobs/job-memory.ts';
import { makeJobs } from '#lib/scaled-objects/jobs/make-jobs.ts';
import type { ScaledJob } from '#lib/scaled-objects/objects/scaled-job.ts';
import type { PlannedObject } from '#lib/scaled-objects/triggers/planned-object.ts';
import { above } from '#lib/scaled-objects/triggers/trigger.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

const KEY = 'default/work';
const TWO_MESSAGES = [{ value: 2, labels: {} }];

describe('makeJobs', () => {
  it('counts what ended after the queue told its length, by the clock of who tells when Jobs end', async () => {
    // Ours is an hour ahead of the API server's.
    expect(await madeAfter({ endedAtOursMs: -3_600_000 + 500, clockAheadMs: 3_600_000 })).to.equal(1);
    expect(await madeAfter({ endedAtOursMs: -3_600_000 - 60_000, clockAheadMs: 3_600_000 })).to.equal(2);
    // Ours is an hour behind.
    expect(await madeAfter({ endedAtOursMs: 3_600_000 - 60_000, clockAheadMs: -3_600_000 })).to.equal(2);
  });
});

/** How many Jobs are made of two messages, with one Job that has ended, as others tell, so long after the queue told its length by our clock. */
async function madeAfter({ endedAtOursMs, clockAheadMs }: { endedAtOursMs: number; clockAheadMs: number }) {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  await using collection = new Collection({
    ...{ clock, logger, random: () => 0, timeoutMs: 1000, onAsked: () => {} },
  });
  const query = { key: 'queue', description: 'a queue', ask: async () => TWO_MESSAGES };
  const metric = {
    metricName: 's0-queue',
    name: 'queue',
    query,
    target: 1,
    targetType: 'AverageValue',
    judge: above(0),
  };
  const trigger = { index: 0, type: 'queue', metrics: [metric], resource: undefined, error: undefined };
  const plan = { uid: 'u', generation: 1, plannedAtMs: 0, triggers: [trigger] } as unknown as PlannedObject;
  collection.replace(KEY, new Map([['s0-queue', { query, intervalMs: 30_000 }]]));
  await clock.advance(10);
  const toldAtMs = collection.reading(KEY, 's0-queue')?.receivedAtMs ?? Number.NaN;
  const completionTime = new Date(toldAtMs + endedAtOursMs).toISOString();
  const ended = {
    metadata: { name: 'work-1' },
    status: { conditions: [{ type: 'Complete', status: 'True' }], completionTime },
  };
  let made = 0;
  const memory = new JobMemories(() => {}).of(KEY);
  memory.clockAheadMs = clockAheadMs;
  await makeJobs({ metadata: { name: 'work' }, spec: {} } as unknown as ScaledJob, {
    ...{ key: KEY, plan, memory, collection, clock, signal: new AbortController().signal },
    own: { normal: () => {}, warning: () => {} },
    jobs: {
      list: async () => [ended],
      create: async () => {
        made++;
        return clock.nowMs() - clockAheadMs;
      },
      delete: async () => {},
    } as never,
  });
  expect(memory.clockAheadMs).to.equal(clockAheadMs);
  return made;
}
