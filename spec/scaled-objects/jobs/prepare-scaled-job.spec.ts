import { expect } from 'chai';
import { z } from 'zod';
import type { Collector } from '#lib/collection/collection.ts';
import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import type { ScaledJob } from '#lib/scaled-objects/api/scaled-job.ts';
import { ScaledJobStates } from '#lib/scaled-objects/jobs/job-context.ts';
import {
  checkScaledJob,
  collect,
  JobCheckFailure,
  jobRefusal,
  prepareScaledJob,
} from '#lib/scaled-objects/jobs/prepare-scaled-job.ts';
import { PreparedObjects } from '#lib/scaled-objects/preparation/prepared-objects.ts';
import {
  compileScaledJob,
  type PreparedScaledJob,
} from '#lib/scaled-objects/preparation/prepared-scaled-job.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const memoriesOf = (clock: ManualClock) =>
  new ScaledJobStates({ clock, findTriggers: () => undefined, onEvaluate: () => {} });
const compiled = (spec: object) =>
  compileScaledJob({ metadata: { name: 'work', namespace: 'default' }, spec } as never);

describe('jobRefusal', () => {
  const error = (statusCode: number) =>
    new ApiError('no', { statusCode, reason: undefined, retryAfterMs: undefined });

  it('takes a refusal for a reason of the object, and what the API server lacks for none', () => {
    for (const statusCode of [400, 403, 422, 499]) {
      const refusal = jobRefusal(error(statusCode));
      expect(refusal, `${statusCode}`).to.be.instanceOf(JobCheckFailure);
      expect((refusal as JobCheckFailure).full).to.equal(
        'Failed to ensure ScaledJob is correctly created: no',
      );
      expect((refusal as JobCheckFailure).message).to.equal(
        'Failed to ensure ScaledJob is correctly created',
      );
    }
    for (const other of [error(429), error(500), error(503), new Error('ECONNRESET')])
      expect(jobRefusal(other)).to.equal(other);
  });
});

describe('collect', () => {
  it('polls each metric at the interval of the object, and all of them after a push', () => {
    const jobState = memoriesOf(new ManualClock()).of('default/work');
    const metric = (metricName: string) => ({ metricName, query: { key: metricName } });
    const triggers = [{ metrics: [metric('s0'), metric('s1')] }, { metrics: [metric('s2')] }];
    const found: Record<string, unknown> = {};
    const collected = (spec: object) =>
      collect('default/work', compiled({ triggers: [], ...spec }), {
        ...{ plan: { triggers } as never, jobState },
        collection: {
          replace: (key: string, collectors: ReadonlyMap<string, Collector>) => {
            found[key] = Object.fromEntries(collectors);
          },
        } as never,
        pushes: {
          replace: (...given: readonly unknown[]) =>
            expect(given).to.deep.equal(['default/work', triggers, { pollsAll: true }]),
        } as never,
      });
    const expected = (intervalMs: number) =>
      Object.fromEntries(
        ['s0', 's1', 's2'].map((name) => [
          name,
          {
            ...{ query: { key: name }, intervalMs, isSteady: true },
            ...{ onPolled: jobState.onPolled, tenant: 'default' },
          },
        ]),
      );
    collected({});
    expect(found['default/work']).to.deep.equal(expected(30_000));
    collected({ pollingInterval: 5 });
    expect(found['default/work']).to.deep.equal(expected(5000));
  });
});

describe('prepareScaledJob', () => {
  const start = () => {
    const clock = new ManualClock();
    const jobState = memoriesOf(clock).of('shop/work');
    const done: string[] = [];
    const environments: unknown[] = [];
    const note = (...words: readonly string[]) => void done.push(words.join(' '));
    const state = {
      refused: undefined as Error | undefined,
      authentications: [] as unknown[],
      aheadMs: 60_000,
    };
    const types = {
      get: () => ({
        ...{ parameters: z.object({}), takesAnyKey: true, scalerName: () => 'anyScaler' },
        async plan({ environment }: { environment: unknown }) {
          environments.push(environment);
          if (state.refused) throw state.refused;
          return { kind: 'external', metrics: [{ name: 'a', query: {} }] };
        },
      }),
    };
    const reader = { secretData: async () => ({}) };
    const failing = new Set<string>();
    const prepared = new PreparedObjects<ScaledJob, PreparedScaledJob>({
      ...{ kind: 'ScaledJob', compile: compileScaledJob, clock, share: new EventLoopShare(clock) },
      types: types as never,
      reader: { ...reader, fresh: reader } as never,
      collection: { failure: (_, name) => (failing.has(name) ? ({} as never) : undefined) },
      readWorkload: async ({ object }) => ({ spec: object.spec.jobTargetRef }),
      authenticationsOf: () => state.authentications,
    });
    const planned = async (generation: number, spec: object = {}, uid = 'u') => {
      done.splice(0);
      const object = {
        metadata: { namespace: 'shop', name: 'work', uid, generation },
        spec: {
          triggers: [{ type: 'any', metadata: { keyFromEnv: 'KEY' } }],
          jobTargetRef: {
            template: {
              spec: {
                containers: [
                  { name: 'main', env: [{ name: 'KEY', value: 'of main' }] },
                  { name: 'side', env: [{ name: 'KEY', value: 'of side' }] },
                ],
              },
            },
          },
          ...spec,
        },
      };
      return await prepareScaledJob(object as never, jobState, {
        ...{ clock, prepared, signal: new AbortController().signal },
        own: { normal: note, warning: note },
        jobs: {
          create: async (_: object, { dryRun }: { dryRun: boolean }) => {
            done.push(`create${dryRun ? ', to try it' : ''}`);
            return clock.nowMs() - state.aheadMs;
          },
          list: async () => [],
        },
      } as never);
    };
    return { clock, jobState, done, environments, state, failing, planned };
  };

  it("validates a Job, measures the API server's clock, and reports the triggers, once for each generation", async () => {
    const { clock, jobState, done, planned } = start();
    await clock.advance(5);
    const plan = await planned(1);
    const begun = [
      'create, to try it',
      'KEDAScalersStarted Started scalers watch',
      'KEDAScalersStarted Scaler any is built',
    ];
    expect(done).to.deep.equal(begun);
    expect(jobState.clockAheadMs).to.equal(60_000);
    expect(plan).to.deep.include({ uid: 'u', generation: 1, preparedAtMs: clock.monotonicMs() });
    expect(plan.triggers[0]?.metrics[0]?.metricName).to.equal('s0-a');
    expect(await planned(1)).to.equal(plan);
    expect(done).to.deep.equal([]);
    expect(await planned(2)).to.not.equal(plan);
    expect(done).to.deep.equal(begun);
    await planned(2, {}, 'another');
    expect(done).to.deep.equal(begun);
  });

  it('takes the environment of the first container, or of the one that is named', async () => {
    const { environments, planned } = start();
    await planned(1);
    await planned(2, { envSourceContainerName: 'side' });
    expect(environments).to.deep.equal([{ KEY: 'of main' }, { KEY: 'of side' }]);
  });

  it('prepares again when authentications change, and every five minutes if there are any', async () => {
    const { clock, done, state, planned } = start();
    let plan = await planned(1);
    await clock.advance(300_000);
    expect(await planned(1)).to.equal(plan);
    state.authentications = [{ key: 'a' }];
    expect(await planned(1)).to.not.equal(plan);
    expect(done).to.deep.equal([]); // the same object: no retry, and no event
    plan = await planned(1);
    await clock.advance(299_999);
    expect(await planned(1)).to.equal(plan);
    await clock.advance(1);
    const again = await planned(1);
    expect(again).to.not.equal(plan);
    state.refused = new Error('down');
    await clock.advance(300_000);
    const retained = await planned(1);
    expect(retained.triggers).to.deep.equal(again.triggers);
    expect(retained.triggers[0]?.error).to.equal(undefined);
  });

  it('reads credentials again 15 s after they were read while a source fails', async () => {
    const { clock, state, failing, planned } = start();
    state.authentications = ['a'];
    const plan = await planned(1);
    failing.add('s0-a');
    await clock.advance(14_999);
    expect(await planned(1)).to.equal(plan);
    await clock.advance(1);
    expect(await planned(1)).to.not.equal(plan);
  });

  it('reports a preparation error as a fault of the object', async () => {
    const { state, planned } = start();
    state.refused = new Error('no such queue');
    const refusal = await planned(1).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(JobCheckFailure);
    expect((refusal as JobCheckFailure).full).to.equal(
      'Failed to ensure ScaledJob is correctly created: no such queue',
    );
  });
});

const CRON = { type: 'cron', metadata: {} };
const TRIGGERS = "ScaledJob doesn't have correct triggers specification";

describe('checkScaledJob', () => {
  for (const [spec, reported] of [
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
    it(`returns ${JSON.stringify(reported)} for ${JSON.stringify(spec)}`, () => {
      expect(fullOf(() => checkScaledJob({ metadata: { name: 'a' }, spec } as ScaledJob))).to.equal(reported);
    });
  }
});

/** The message of the event, which is longer than that of the condition. */
function fullOf(check: () => void): unknown {
  try {
    check();
  } catch (error) {
    return (error as { readonly full: string }).full;
  }
  return undefined;
}
