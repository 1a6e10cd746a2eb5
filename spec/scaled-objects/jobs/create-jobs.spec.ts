import { expect } from 'chai';
import { Collection } from '#lib/collection/collection.ts';
import type { ScaledJob } from '#lib/scaled-objects/api/scaled-job.ts';
import { createJobs } from '#lib/scaled-objects/jobs/create-jobs.ts';
import { recordClockOffset, ScaledJobStates } from '#lib/scaled-objects/jobs/job-context.ts';
import type { FoundJob } from '#lib/scaled-objects/jobs/job-state.ts';
import { compileScaledJob } from '#lib/scaled-objects/preparation/prepared-scaled-job.ts';
import type { PreparedTriggers } from '#lib/scaled-objects/preparation/prepared-triggers.ts';
import { above } from '#lib/scaled-objects/triggers/trigger.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

const KEY = 'default/work';
const TWO_MESSAGES = [{ value: 2, labels: {} }];

describe('createJobs', () => {
  it('counts Jobs that ended after the queue length was read, by the clock of the API server', async () => {
    // Our clock is an hour ahead of the API server's.
    expect(await madeAfter({ endedAtOursMs: -3_600_000 + 500, clockAheadMs: 3_600_000 })).to.equal(1);
    expect(await madeAfter({ endedAtOursMs: -3_600_000 - 60_000, clockAheadMs: 3_600_000 })).to.equal(2);
    // Our clock is an hour behind.
    expect(await madeAfter({ endedAtOursMs: 3_600_000 - 60_000, clockAheadMs: -3_600_000 })).to.equal(2);
  });

  it('continues to create Jobs after ended ones if the local clock is stepped back or was stopped', async () => {
    // Messages of a Job that ended a minute before are gone from the queue; those of one that ended just after may not be.
    for (const steppedMs of [-3_600_000, 3_600_000]) {
      const stepped = { clockAheadMs: 0, steppedMs };
      expect(await madeAfter({ endedAtOursMs: -steppedMs - 60_000, ...stepped })).to.equal(2);
      expect(await madeAfter({ endedAtOursMs: -steppedMs + 500, ...stepped })).to.equal(1);
    }
  });

  it('deletes the oldest of more than 100 Jobs that completed, and of more than 100 that failed', async () => {
    const jobs = (type: 'Complete' | 'Failed', count: number) =>
      Array.from({ length: count }, (_, index) => ({
        metadata: { name: `${type}-${index}` },
        status: {
          conditions: [{ type, status: 'True' }],
          completionTime: new Date(index * 1000).toISOString(),
        },
      }));
    const atTheLimit = await madeBeside(() => [...jobs('Complete', 100), ...jobs('Failed', 100)]);
    expect(atTheLimit.deleted).to.deep.equal([]);
    const beyond = await madeBeside(() => [...jobs('Complete', 102), ...jobs('Failed', 101)]);
    expect(beyond.deleted).to.deep.equal(['Complete-0', 'Complete-1', 'Failed-0']);
  });
});

/** The number of Jobs created for two messages, with one ended Job, when the queue length was read at that time of our clock. */
async function madeAfter({ endedAtOursMs, ...clocks }: { endedAtOursMs: number } & Clocks): Promise<number> {
  const { made } = await madeBeside((reportedAtMs) => {
    const completionTime = new Date(reportedAtMs + endedAtOursMs).toISOString();
    const status = { conditions: [{ type: 'Complete', status: 'True' }], completionTime };
    return [{ metadata: { name: 'work-1' }, status }];
  }, clocks);
  return made;
}

/** Our clock's offset from the API server's at first, and its step after that. */
interface Clocks {
  readonly clockAheadMs?: number;
  readonly steppedMs?: number;
}

/** Creates Jobs for two messages, with the Jobs that exist when the queue length is read. */
async function madeBeside(
  jobsAt: (reportedAtMs: number) => readonly FoundJob[],
  { clockAheadMs = 0, steppedMs }: Clocks = {},
) {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  await using collection = new Collection({
    ...{ clock, logger, random: () => 0, timeoutMs: 1000, onPolled: () => {} },
  });
  const query = { key: 'queue', description: 'a queue', run: async () => TWO_MESSAGES };
  const metric = {
    metricName: 's0-queue',
    name: 'queue',
    query,
    target: 1,
    targetType: 'AverageValue',
    evaluate: above(0),
  };
  const trigger = { index: 0, type: 'queue', metrics: [metric], resource: undefined, error: undefined };
  const plan = {
    uid: 'u',
    generation: 1,
    preparedAtMs: 0,
    triggers: [trigger],
  } as unknown as PreparedTriggers;
  const jobState = new ScaledJobStates({ clock, findTriggers: () => plan, onEvaluate: () => {} }).of(KEY);
  jobState.clockAheadMs = clockAheadMs;
  if (steppedMs !== undefined) {
    recordClockOffset(jobState, clock.nowMs() - clockAheadMs, clock);
    clock.stepWall(steppedMs);
  }
  const aheadMs = clockAheadMs + (steppedMs ?? 0);
  collection.replace(KEY, new Map([['s0-queue', { query, intervalMs: 30_000 }]]));
  await clock.advance(10);
  const reportedAtMs = collection.reading(KEY, 's0-queue')?.receivedAtMs ?? Number.NaN;
  const deleted: string[] = [];
  let made = 0;
  const object = { metadata: { name: 'work' }, spec: { triggers: [] } } as unknown as ScaledJob;
  await createJobs(object, {
    prepared: compileScaledJob(object),
    ...{ key: KEY, plan, jobState, collection, clock, signal: new AbortController().signal },
    own: { normal: () => {}, warning: () => {} },
    scaleLog: { jobsCreated: () => {} },
    jobs: {
      list: async () => jobsAt(reportedAtMs),
      create: async (_: object, { dryRun = false }: { dryRun?: boolean }) => {
        if (!dryRun) made++;
        return clock.nowMs() - aheadMs;
      },
      delete: async ({ metadata }: FoundJob) => void deleted.push(metadata.name),
    } as never,
  });
  expect(jobState.clockAheadMs).to.equal(aheadMs);
  return { made, deleted };
}
