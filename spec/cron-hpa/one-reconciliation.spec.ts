import { expect } from 'chai';
import { Registry } from 'prom-client';
import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import type { CronHpa, CronHpaStatus } from '#lib/cron-hpa/cron-hpa.ts';
import { cronHpaController } from '#lib/cron-hpa/cron-hpa-controller.ts';
import { STKE_CRON_HPA } from '#lib/cron-hpa/cron-hpa-kind.ts';
import { CronHpaSeries } from '#lib/cron-hpa/observability/cron-hpa-series.ts';
import { Schedules } from '#lib/schedule/parse-schedule.ts';
import { cronHpa, job, planAt } from '#spec/support/cron-hpas.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { shareOfSlowSteps } from '#spec/support/share-of-slow-steps.ts';

const DUE = '2026-07-15T08:00:00Z';
const never = new AbortController().signal;

describe('cronHpaController with an informer behind an earlier leader', () => {
  it('does not run an activation that has just run, though it looks due', async () => {
    const { requested, reconcile, sizes } = setUp({
      observed: activatedAt('2026-07-14T08:00:00Z'),
      now: activatedAt(DUE),
    });
    await reconcile();
    expect(sizes).to.deep.equal([]);
    expect(requested()).to.equal(1);
  });

  it('runs an activation that has not run, and does not read its own writes again', async () => {
    const observed = activatedAt('2026-07-14T08:00:00Z');
    const { requested, clock, reconcile, sizes } = setUp({ observed, now: observed });
    await reconcile();
    expect([sizes, requested()]).to.deep.equal([[3], 1]);
    await reconcile();
    expect([sizes, requested()]).to.deep.equal([[3], 1]);
    await clock.advance(86_400_000);
    await reconcile();
    expect([sizes, requested()]).to.deep.equal([[3, 3], 1]);
  });

  it('does nothing for a deleted object', async () => {
    const { reconcile, sizes } = setUp({ observed: activatedAt('2026-07-14T08:00:00Z'), now: undefined });
    expect(await reconcile()).to.deep.equal({});
    expect(sizes).to.deep.equal([]);
  });
});

describe('cronHpaController in one reconciliation', () => {
  const excludeDates = Array.from({ length: 366 }, (_, day) => `${1 + (day % 28)} ${1 + (day % 12)} *`);
  for (const [what, changes] of [
    ['that exclude many dates', { excludeDates }],
    ['with rare dates', { schedule: '0 0 0 29 2 *' }],
  ] as const) {
    it(`lets other work run between many jobs ${what}`, async () => {
      const jobs = Array.from({ length: 20 }, (_, index) => job({ name: `job-${index}`, ...changes }));
      const observed = cronHpa({ spec: { jobs } });
      const { reconcile, written } = setUp({ observed, now: observed, share: shareOfSlowSteps() });
      const loops = () => performance.nodeTiming.uvMetricsInfo.loopCount;
      const before = loops();
      await reconcile();
      expect(loops() - before).to.be.at.least(jobs.length);
      expect(written()?.jobs).to.have.length(jobs.length);
    });
  }

  it('runs an activation until startingDeadlineSeconds have passed, and reports it as missed then', async () => {
    const observed = activatedAt('2026-07-14T08:00:00Z', { startingDeadlineSeconds: 60 });
    const inTime = setUp({ observed, now: observed });
    await inTime.clock.advance(60_000);
    await inTime.reconcile();
    expect(inTime.sizes).to.deep.equal([3]);
    const late = setUp({ observed, now: observed });
    await late.clock.advance(61_000);
    await late.reconcile();
    expect(late.sizes).to.deep.equal([]);
    expect(late.written()?.jobs[0]).to.deep.include({ state: 'Failed', lastActivationTime: DUE });
  });

  it('records no failure for an activation that the end of its term aborts', async () => {
    const observed = activatedAt('2026-07-14T08:00:00Z');
    const ending = new AbortController();
    const { reconcile, written } = setUp({
      ...{ observed, now: observed },
      set: async () => {
        ending.abort(new Error('not the leader any more'));
        throw new Error('connection reset');
      },
    });
    const failure = await reconcile(ending.signal).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error);
    expect(written()).to.equal(undefined);
  });

  it('records a failure, and retries after a second', async () => {
    const observed = activatedAt('2026-07-14T08:00:00Z');
    const { reconcile, written } = setUp({
      ...{ observed, now: observed, set: () => Promise.reject(new Error('connection reset')) },
    });
    expect(await reconcile()).to.deep.equal({ requeueAfterMs: 1000 });
    expect(written()?.jobs[0]?.message).to.match(/connection reset/);
    expect(await reconcile()).to.deep.equal({ requeueAfterMs: 2000 });
  });

  it('doubles the delay after each failure up to a minute, and resets it after a success', async () => {
    const observed = activatedAt('2026-07-14T08:00:00Z');
    let isBroken = true;
    const { clock, reconcile } = setUp({
      ...{ observed, now: observed },
      set: async () => {
        if (isBroken) throw new Error('connection reset');
      },
    });
    const delays: (number | undefined)[] = [];
    const next = async () => void delays.push((await reconcile())?.requeueAfterMs);
    for (let count = 0; count < 8; count++) await next();
    expect(delays.splice(0)).to.deep.equal([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    isBroken = false;
    await next();
    await clock.advance(86_400_000);
    isBroken = true;
    for (let count = 0; count < 2; count++) await next();
    expect(delays).to.deep.equal([86_400_000, 1000, 2000]);
  });

  it('reconciles when the next job is due, even before the retry', async () => {
    const observed = activatedAt('2026-07-14T08:00:00Z', { jobs: [job({ schedule: '* * * * * *' })] });
    const { reconcile } = setUp({
      ...{ observed, now: observed, set: () => Promise.reject(new Error('connection reset')) },
    });
    await reconcile();
    expect(await reconcile()).to.deep.equal({ requeueAfterMs: 1000 });
  });

  it('is the reporting controller of its events', async () => {
    const observed = activatedAt('2026-07-14T08:00:00Z');
    const { reconcile, reported } = setUp({ observed, now: observed });
    await reconcile();
    expect(reported).to.have.length(1);
    expect(reported[0]).to.deep.include({ type: 'Normal', reason: 'Scaled', action: 'Scale' });
    expect(reported[0]).to.have.property('regarding').which.includes({ kind: 'CronHorizontalPodAutoscaler' });
  });
});

/** An object whose job last ran at a time; later runs have later resource versions. */
function activatedAt(time: string, spec: Partial<CronHpa['spec']> = {}): CronHpa {
  const [planned] = planAt(cronHpa(), DUE);
  const condition = {
    ...{ jobId: '1', name: 'morning', schedule: '0 0 8 * * *', state: 'Succeed' as const, message: 'done' },
    ...{ lastProbeTime: time, submittedTime: '2026-07-10T08:00:00Z', lastActivationTime: time },
    specHash: planned?.specHash ?? '',
  } as const;
  return cronHpa({ resourceVersion: `${Date.parse(time)}`, spec, status: { jobs: [condition] } });
}

/** A leader whose informer has another version of an object than the API server. */
function setUp({
  observed,
  now,
  set,
  share,
}: {
  readonly observed: CronHpa;
  readonly now: CronHpa | undefined;
  /** Called instead of setting a size. */
  readonly set?: () => Promise<void>;
  readonly share?: EventLoopShare;
}) {
  const clock = new ManualClock(Date.parse(DUE));
  const sizes: number[] = [];
  const reported: object[] = [];
  let [latest, requestCount] = [now, 0];
  let written: CronHpaStatus | undefined;
  const nothing = { onChange: () => () => {}, synced: async () => {} };
  const series = new CronHpaSeries(new Registry(), () => ({ ready: 0, notReady: 0 }));
  const controller = cronHpaController({
    ...{ kind: STKE_CRON_HPA, otherCronHpas: [] },
    cronHpas: { ...nothing, find: () => observed, values: () => [] },
    hpas: { ...nothing, find: () => undefined },
    ...{ cronHpasByTarget: () => [], hpasByTarget: () => [], hpaClient: undefined },
    statuses: {
      get: async () => {
        requestCount++;
        return latest;
      },
      write: async (object: CronHpa, status: CronHpaStatus) => {
        written = status;
        latest = { ...object, resourceVersion: `${Number(object.resourceVersion) + 1}`, status };
        return latest;
      },
    },
    scales: {
      get: async () => ({ specReplicas: 1 }),
      set: set ?? (async (_: unknown, replicas: number) => void sizes.push(replicas)),
    },
    ...{ events: { record: (event: object) => void reported.push(event) }, series },
    ...{
      clock,
      schedules: new Schedules(),
      share: share ?? new EventLoopShare(clock),
      timeZone: 'UTC',
      newJobId: () => '1',
    },
  } as never);
  const reconcile = (signal = never) => controller.reconcile('default/web', signal);
  return { requested: () => requestCount, clock, reconcile, sizes, reported, written: () => written };
}
