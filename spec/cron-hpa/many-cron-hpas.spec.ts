import { expect } from 'chai';
import { Registry } from 'prom-client';
import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { TokenBucket } from '#lib/concurrency/token-bucket.ts';
import { runController } from '#lib/control/controller.ts';
import type { Scale, ScaleTarget } from '#lib/control/scale-client.ts';
import type { CronHpa } from '#lib/cron-hpa/cron-hpa.ts';
import { cronHpaController } from '#lib/cron-hpa/cron-hpa-controller.ts';
import { STKE_CRON_HPA } from '#lib/cron-hpa/cron-hpa-kind.ts';
import { CronHpaSeries } from '#lib/cron-hpa/observability/cron-hpa-series.ts';
import { type Hpa, targetsOfCronHpa, targetsOfHpa } from '#lib/cron-hpa/target-conflicts.ts';

import { type IndexFunction, type ObjectChange, ObjectIndex } from '#lib/kubernetes/informer/object-store.ts';
import { Schedules } from '#lib/schedule/parse-schedule.ts';
import { cronHpa, job } from '#spec/support/cron-hpas.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

const MIDNIGHT_MS = Date.parse('2026-07-16T00:00:00Z');

describe('cronHpaController with many due objects', () => {
  it('runs 10,000 activations at midnight within 10 s at 5,000 requests a second, each once', async () => {
    const objects = Array.from({ length: 10_000 }, (_, index) => scaledAt(`web-${index}`, '0 0 0 * * *'));
    const { clock, done, end } = await startAt(MIDNIGHT_MS - 60_000, objects, {
      perSecond: 5000,
      workers: 50,
    });
    await clock.advance(59_999);
    expect(done).to.have.length(0);
    await clock.advance(10_001);
    expect(new Set(done.map(({ name }) => name)).size).to.equal(10_000);
    expect(done).to.have.length(10_000);
    await clock.advance(60_000);
    expect(done).to.have.length(10_000);
    await end();
  });

  it('is limited by the request rate only, and runs the oldest activation first', async () => {
    const early = Array.from({ length: 100 }, (_, index) => scaledAt(`early-${index}`, '0 0 0 * * *'));
    const late = Array.from({ length: 100 }, (_, index) => scaledAt(`late-${index}`, '1 0 0 * * *'));
    const objects = late.flatMap((object, index) => [object, early[index] ?? object]);
    const { clock, done, end } = await startAt(MIDNIGHT_MS - 60_000, objects, { perSecond: 20, workers: 5 });
    await clock.advance(60_000 + 32_000); // 200 of three requests each take 30 s, less the burst
    expect(done).to.have.length(200);
    const groups = done.map(({ name }) => name.split('-')[0]);
    expect(groups.slice(0, 95)).to.deep.equal(Array(95).fill('early')); // workers finish in any order where both groups overlap
    expect(groups.slice(105)).to.deep.equal(Array(95).fill('late'));
    await end();
  });
});

function scaledAt(name: string, schedule: string): CronHpa {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name };
  return cronHpa({ name, uid: name, spec: { scaleTargetRef, jobs: [job({ schedule })] } });
}

/** Runs the controller on objects in memory, with the rate limit of its API client. */
async function startAt(
  nowMs: number,
  objects: readonly CronHpa[],
  { perSecond, workers }: { readonly perSecond: number; readonly workers: number },
) {
  const clock = new ManualClock(nowMs);
  const limit = new TokenBucket({ clock, perSecond, burst: perSecond });
  const cronHpas = new ObjectsInMemory<CronHpa>();
  const hpas = new ObjectsInMemory<Hpa>();
  for (const object of objects) cronHpas.set(`default/${object.name}`, object);
  const sizes = new Map<string, number>();
  const done: { name: string; atMs: number }[] = [];
  let version = 1;
  const scaleOf = (target: ScaleTarget) => ({ target, specReplicas: sizes.get(target.name) ?? 1 }) as Scale;
  const ending = new AbortController();
  const { signal } = ending;
  const running = runController(
    cronHpaController({
      ...{
        kind: STKE_CRON_HPA,
        otherCronHpas: [],
        cronHpas,
        hpas,
        clock,
        schedules: new Schedules(),
        share: new EventLoopShare(clock),
        timeZone: 'UTC',
        newJobId: () => 'id',
      },
      cronHpasByTarget: byTarget(cronHpas, targetsOfCronHpa),
      hpasByTarget: byTarget(hpas, targetsOfHpa),
      series: new CronHpaSeries(new Registry(), () => ({ ready: 0, notReady: 0 })),
      events: { record: () => {} },
      hpaClient: { get: refuse, patch: refuse },
      scaleLog: { minReplicasChanged: () => {} },
      scales: {
        get: async (target) => {
          await limit.take(signal);
          return scaleOf(target);
        },
        set: async ({ target }, replicas) => {
          await limit.take(signal);
          sizes.set(target.name, replicas);
          done.push({ name: target.name, atMs: clock.nowMs() });
          return scaleOf(target);
        },
      },
      statuses: {
        get: async ({ namespace, name }) => {
          await limit.take(signal);
          return cronHpas.find(`${namespace}/${name}`);
        },
        write: async (object, status) => {
          await limit.take(signal);
          if (JSON.stringify(status) === JSON.stringify(object.status)) return undefined;
          const written = { ...object, status, resourceVersion: String(++version) };
          cronHpas.set(`${object.namespace}/${object.name}`, written);
          return written;
        },
      },
    }),
    { clock, logger: new RecordingLogger(), signal, workers },
  );
  const end = async () => {
    ending.abort(new Error('the spec is over'));
    await running;
  };
  return { clock, done, end };
}

function refuse(): Promise<never> {
  return Promise.reject(new Error('there are no HPAs'));
}

function byTarget<T>(objects: ObjectsInMemory<T>, targetsOf: IndexFunction<T>) {
  const index = new ObjectIndex(targetsOf);
  objects.onChange((change) => index.apply(change));
  return (target: string) => [...index.keys(target)].flatMap((key) => objects.find(key) ?? []);
}

/** Objects of an informer without lag. */
class ObjectsInMemory<T> {
  readonly #objects = new Map<string, T>();
  readonly #listeners = new Set<(change: ObjectChange<T>) => void>();

  set(key: string, current: T): void {
    const previous = this.#objects.get(key);
    this.#objects.set(key, current);
    for (const listener of this.#listeners) listener({ key, previous, current });
  }

  find(key: string): T | undefined {
    return this.#objects.get(key);
  }

  values(): Iterable<T> {
    return this.#objects.values();
  }

  onChange(listener: (change: ObjectChange<T>) => void): () => void {
    for (const [key, current] of this.#objects) listener({ key, previous: undefined, current });
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async synced(): Promise<void> {}
}
