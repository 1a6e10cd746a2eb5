import { expect } from 'chai';
import type { ObservedMetric } from '#lib/scaled-objects/metrics/metric-state.ts';
import { compileScaledObject } from '#lib/scaled-objects/preparation/prepared-scaled-object.ts';
import { ScaledObjectStates } from '#lib/scaled-objects/scaling/reconcile-context.ts';
import { reconcileScaling } from '#lib/scaled-objects/scaling/reconcile-scaling.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

type State = ObservedMetric['state'];
const NOTHING_TO_DO: State = { kind: 'value', values: [0], isActive: false, atMs: 0 };
const SOMETHING_TO_DO: State = { kind: 'value', values: [9], isActive: true, atMs: 0 };
const PENDING: State = { kind: 'pending' };

describe('reconcileScaling, before the first response of a trigger', () => {
  it('does not scale down, even if the other triggers are inactive after the cooldown', async () => {
    for (const states of [[PENDING], [NOTHING_TO_DO, PENDING], [PENDING, NOTHING_TO_DO]]) {
      const { conditions, sizes } = await stepped({ replicas: 2, states });
      expect(sizes).to.deep.equal([]);
      expect(conditions).to.not.include('Active False');
    }
    expect((await stepped({ replicas: 2, states: [NOTHING_TO_DO, NOTHING_TO_DO] })).sizes).to.deep.equal([0]);
  });

  it('activates its target if another trigger is active', async () => {
    const { conditions, sizes } = await stepped({ replicas: 0, states: [PENDING, SOMETHING_TO_DO] });
    expect(sizes).to.deep.equal([1]);
    expect(conditions).to.include('Active True');
  });

  it('activates its target if that is forced', async () => {
    const annotations = { 'autoscaling.keda.sh/force-activation': 'true' };
    expect((await stepped({ replicas: 0, states: [PENDING], annotations })).sizes).to.deep.equal([1]);
  });
});

describe('reconcileScaling, once', () => {
  it('does not scale a target that another client has scaled meanwhile, and records no event', async () => {
    const { events, sizes, status } = await stepped({
      ...{ replicas: 0, states: [SOMETHING_TO_DO], replicasByNow: 4 },
    });
    expect([sizes, events]).to.deep.equal([[], []]);
    expect(status.lastActiveTime).to.equal(undefined);
  });

  it('writes the time of activation, and records the cause', async () => {
    const { events, sizes, status } = await stepped({ replicas: 0, states: [SOMETHING_TO_DO] });
    expect([sizes, status.lastActiveTime]).to.deep.equal([[1], '2026-01-01T00:00:00Z']);
    expect(events).to.deep.equal([
      'KEDAScaleTargetActivated Scaled apps/v1.Deployment default/web from 0 to 1, triggered by s0',
    ]);
  });

  it('writes the time of the last activity when it ends, even if it was written less than a minute before', async () => {
    const { status } = await stepped({
      ...{ replicas: 2, states: [NOTHING_TO_DO], cooldownPeriod: 300 },
      ...{ status: { lastActiveTime: '2026-01-01T00:00:00Z' }, seconds: 50, receivedActiveAtMs: 40_000 },
    });
    expect(status.lastActiveTime).to.equal('2026-01-01T00:00:40Z');
  });

  it('reports that its target cannot be scaled, and fails', async () => {
    const failing = { replicas: 0, states: [SOMETHING_TO_DO], set: () => Promise.reject(new Error('no')) };
    const events: string[] = [];
    const failure = await stepped({ ...failing, events }).catch((error: Error) => error.message);
    expect(failure).to.equal('no');
    expect(events).to.deep.equal([
      'KEDAScaleTargetActivationFailed Failed to scale apps/v1.Deployment default/web from 0 to 1',
    ]);
  });
});

/** Reconciles once an object whose target was created long ago and has these replicas. */
async function stepped({
  replicas,
  states,
  annotations = {},
  replicasByNow = replicas,
  cooldownPeriod = 0,
  status: before = {},
  seconds = 0,
  receivedActiveAtMs,
  events = [],
  set,
}: {
  readonly replicas: number;
  readonly states: readonly State[];
  readonly annotations?: Readonly<Record<string, string>>;
  /** In the API server, if they have changed. */
  readonly replicasByNow?: number;
  readonly cooldownPeriod?: number;
  readonly status?: object;
  /** Seconds since the start of the clock. */
  readonly seconds?: number;
  /** When a poll last found it active, by the monotonic clock. */
  readonly receivedActiveAtMs?: number;
  readonly events?: string[];
  readonly set?: () => Promise<never>;
}) {
  const triggers = states.map((_, index) => ({
    index,
    type: 'spec',
    metrics: [{ metricName: `s${index}` }],
  }));
  const observed = triggers.map((trigger, index) => {
    const [metric] = trigger.metrics;
    return { trigger, metric, state: states[index], isPushed: false };
  });
  const sizes: number[] = [];
  const report = (reason: string, message: string) => void events.push(`${reason} ${message}`);
  const own = { normal: report, warning: report };
  const clock = new ManualClock();
  await clock.advance(seconds * 1000);
  const object = {
    metadata: {
      ...{ name: 'web', namespace: 'default', annotations },
      creationTimestamp: '2020-01-01T00:00:00Z',
    },
    spec: { scaleTargetRef: { name: 'web' }, cooldownPeriod, triggers: [] },
    status: before,
  } as never;
  const { status } = await reconcileScaling(object, {
    prepared: compileScaledObject(object),
    ...{ key: 'default/web', clock, states: new ScaledObjectStates(), plan: { triggers } },
    target: {
      replicas,
      resource: { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments' },
    },
    ...{ hpa: {}, own, workloads: { find: () => undefined } },
    plans: {
      observe: () => observed,
      lastActiveAtMs: () => receivedActiveAtMs,
    },
    scales: {
      get: async () => ({ specReplicas: replicasByNow }),
      set: set ?? (async (_: unknown, size: number) => sizes.push(size)),
    },
    ...{ signal: new AbortController().signal, logger: new RecordingLogger() },
  } as never);
  return {
    events,
    status,
    sizes,
    conditions: (status.conditions ?? []).map((one) => `${one.type} ${one.status}`),
  };
}
