import { expect } from 'chai';
import {
  readScalingSchedule,
  type ScalingSchedule,
} from '#lib/metrics-adapter/scaling-schedules/scaling-schedule.ts';
import {
  liftedReplicas,
  readScheduledHpa,
  ScheduleReconciler,
  type ScheduleReconcilerOptions,
} from '#lib/metrics-adapter/scaling-schedules/scaling-schedule-controller.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { externalMetric, readHpaObject } from '#spec/support/scaled-hpas.ts';

const { signal } = new AbortController();

describe('ScheduleReconciler', () => {
  it('lets other work run between schedules', async () => {
    let nowMs = Date.parse('2026-03-02T10:05:00Z');
    const clock = Object.assign(new ManualClock(nowMs), {
      monotonicMs: () => (nowMs += 10),
      startTimer(_: number, callback: () => void) {
        const timer = setImmediate(callback);
        return { [Symbol.dispose]: () => clearImmediate(timer) };
      },
    });
    const system = setUp(clock);
    system.watched.schedules = Array.from({ length: 20 }, (_, index) => scheduleThatCounts(`now-${index}`));
    const loops = () => performance.nodeTiming.uvMetricsInfo.loopCount;
    const before = loops();
    await system.reconciler.reconcile(signal);
    expect(loops() - before).to.be.at.least(20);
  });

  it('logs failures, however many deleted schedules and HPAs failed before', async () => {
    const system = setUp();
    system.watched.schedules = Array.from({ length: 600 }, (_, index) => scheduleThatIsOver(`old-${index}`));
    system.watched.hpas = Array.from({ length: 500 }, (_, index) => hpaOf('always', `old-${index}`));
    system.watched.schedules.push(scheduleThatCounts('always'));
    await system.reconciler.reconcile(signal);
    expect(system.reported()).to.have.lengthOf(750); // at most this many events are recorded at a time
    system.watched.schedules = [scheduleThatIsOver('new')];
    system.watched.hpas = [];
    await system.reconciler.reconcile(signal);
    await system.reconciler.reconcile(signal);
    expect(system.reported().slice(750)).to.deep.equal([
      { controller: 'scaling-schedule', key: 'ScalingSchedule default/new', err: 'nobody listens' },
    ]);
  });
});

/** An expired schedule whose status is still active. */
function scheduleThatIsOver(name: string): ScalingSchedule {
  const value = {
    metadata: { name, namespace: 'default' },
    spec: { schedules: [] },
    status: { active: true },
  };
  return readScalingSchedule(value, 'ScalingSchedule');
}

/** An active schedule with an active status. */
function scheduleThatCounts(name: string): ScalingSchedule {
  const once = { type: 'OneTime', date: '2026-03-02T10:00:00Z', durationMinutes: 15, value: 100 };
  const spec = { schedules: [once], scalingWindowDurationMinutes: 0 };
  const value = { metadata: { name, namespace: 'default' }, spec, status: { active: true } };
  return readScalingSchedule(value, 'ScalingSchedule');
}

function hpaOf(schedule: string, name: string) {
  return {
    ...{ namespace: 'default', name, uid: name, maxReplicas: 10 },
    target: { apiVersion: 'apps/v1', kind: 'Deployment', name },
    schedules: [{ kind: 'ScalingSchedule', key: `default/${schedule}`, averageValue: 10 }] as const,
  };
}

/** A reconciler whose API server does not respond. */
function setUp(clock = new ManualClock(Date.parse('2026-03-02T10:05:00Z'))) {
  const logger = new RecordingLogger();
  const fail = async () => {
    throw new Error('nobody listens');
  };
  const watched = { schedules: [] as ScalingSchedule[], hpas: [] as ReturnType<typeof hpaOf>[] };
  const reconciler = new ScheduleReconciler({
    client: { getJson: fail } as unknown as ScheduleReconcilerOptions['client'],
    scales: { get: fail } as unknown as ScheduleReconcilerOptions['scales'],
    events: { record: () => {} },
    ...{ clock, logger, tolerance: 0.1 },
    schedules: { values: () => watched.schedules },
    hpas: { values: () => watched.hpas },
    defaults: { windowMs: 600_000, rampSteps: 10, timeZone: 'UTC' },
  });
  return { watched, reconciler, reported: () => logger.lines.map(({ fields }) => fields) };
}

const schedule = { kind: 'ScalingSchedule', key: 'default/nightly' };
const facts = { current: 95, max: 200, tolerance: 0.1 };

describe('liftedReplicas', () => {
  it('adds the replicas within the tolerance, with the schedule', () => {
    expect(liftedReplicas([{ schedule, value: 1000, averageValue: 10 }], facts)).to.deep.equal({
      replicas: 100,
      schedule,
    });
    expect(liftedReplicas([{ schedule, value: 951, averageValue: 10 }], facts)?.replicas).to.equal(96);
  });

  it('leaves changes that the HPA makes, and sufficient replicas, alone', () => {
    for (const value of [1100, 950, 900, 0])
      expect(liftedReplicas([{ schedule, value, averageValue: 10 }], facts), String(value)).to.equal(
        undefined,
      );
  });

  it('respects the maximum of the HPA', () => {
    const target = { schedule, value: 1000, averageValue: 10 };
    expect(liftedReplicas([target], { ...facts, max: 97 })?.replicas).to.equal(97);
    expect(liftedReplicas([target], { ...facts, max: 95 })).to.equal(undefined);
  });

  it('uses the highest of several', () => {
    const targets = [960, 1000].map((value) => ({ schedule, value, averageValue: 10 }));
    expect(liftedReplicas(targets, facts)?.replicas).to.equal(100);
  });

  it('never scales up from zero, and does not divide by zero', () => {
    const target = { schedule, value: 10, averageValue: 10 };
    expect(liftedReplicas([target], { ...facts, current: 0 })).to.equal(undefined);
    expect(liftedReplicas([{ ...target, averageValue: 0 }], facts)).to.equal(undefined);
  });
});

describe('readScheduledHpa', () => {
  it('returns the target, and the averages of the schedules', () => {
    const metrics = [
      externalMetric('rate'),
      scheduled({ kind: 'ScalingSchedule', name: 'nightly' }, '2500m'),
      scheduled({ kind: 'ClusterScalingSchedule', name: 'nightly' }, '10'),
    ];
    expect(readScheduledHpa(readHpaObject({ name: 'web', namespace: 'shop', metrics }))).to.deep.equal({
      ...{ namespace: 'shop', name: 'web', uid: '', maxReplicas: 10 },
      target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      schedules: [
        { kind: 'ScalingSchedule', key: 'shop/nightly', averageValue: 2.5 },
        { kind: 'ClusterScalingSchedule', key: 'nightly', averageValue: 10 },
      ],
    });
  });

  for (const [what, metrics] of [
    ['has none', []],
    ['asks for others', [externalMetric('rate')]],
    ['names an object of another kind', [scheduled({ kind: 'Service', name: 'a' }, '1')]],
    [
      'names one of another group',
      [scheduled({ kind: 'ScalingSchedule', name: 'a' }, '1', 'example.org/v1')],
    ],
    ['sets no average', [scheduled({ kind: 'ScalingSchedule', name: 'a' }, undefined)]],
    ['sets an invalid quantity', [scheduled({ kind: 'ScalingSchedule', name: 'a' }, 'many')]],
  ] as const)
    it(`passes over an HPA that ${what}`, () => {
      expect(readScheduledHpa(readHpaObject({ metrics }))).to.equal(undefined);
    });
});

function scheduled(
  object: { readonly kind: string; readonly name: string },
  averageValue: string | undefined,
  apiVersion = 'zalando.org/v1',
): object {
  const target =
    averageValue === undefined ? { type: 'Value', value: '1' } : { type: 'AverageValue', averageValue };
  return {
    type: 'Object',
    object: { metric: { name: 'load' }, describedObject: { apiVersion, ...object }, target },
  };
}
