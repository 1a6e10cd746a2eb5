import { randomUUID } from 'node:crypto';
import type { Registry } from 'prom-client';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import { stringInterner } from '#lib/cache/interner.ts';
import type { Controller } from '#lib/control/controller.ts';
import type { EventRecorder } from '#lib/control/event-recorder.ts';
import type { ScaleClient } from '#lib/control/scale-client.ts';
import type { ScaleLog } from '#lib/control/scale-log.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { Informer } from '#lib/kubernetes/informer/informer.ts';
import { Schedules } from '#lib/schedule/schedules.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { HasUi } from '#lib/ui/page.ts';
import { CRON_HPAS, type CronHpa, HPAS, nameOf, readCronHpa, type ScaleTargetRef } from './cron-hpa.ts';
import { cronHpaController, statusClient } from './cron-hpa-controller.ts';
import { CronHpaSeries } from './observability/cron-hpa-series.ts';
import { type CronHpaUiPart, cronHpaUi } from './observability/cron-hpa-ui.ts';
import { debugCronHpas } from './observability/debug-cron-hpas.ts';
import { hpaOf, readHpa, targetKey, targetsOfCronHpa, targetsOfHpa } from './target-conflicts.ts';

/** What Cron-HPA needs from outside. */
export interface CronHpaEnvironment {
  readonly client: ApiClient;
  readonly scales: ScaleClient;
  readonly scaleLog: ScaleLog;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where the times of jobs are meant that do not tell. */
  readonly timeZone: string;
  readonly newJobId?: () => string;
}

/** Cron-HPA, ready to be started; disposing it ends its informers. */
export interface CronHpaSubsystem extends AsyncDisposable, HasUi<CronHpaUiPart> {
  /** Follows the objects, as every replica does. */
  start(): void;
  readonly isSynced: boolean;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  /** What the leader runs: a new one for each term. */
  controller(): Controller;
  /** Whether an object holds up a target: a job has scaled it up, and none has scaled it down since. */
  holdsUp(namespace: string, target: ScaleTargetRef): boolean;
}

/** Names, schedules and times that objects have in common are held once; messages of activations are longer, and differ. */
const SHARED_TEXTS = { capacity: 5_000, longestKey: 80 };

/** Puts Cron-HPA together: informers → due activations → scale, status, events. */
export function cronHpaSubsystem(environment: CronHpaEnvironment): CronHpaSubsystem {
  const { client, clock, registry, newJobId = randomUUID } = environment;
  const texts = stringInterner(SHARED_TEXTS);
  const share = (text: string) => texts.intern(text);
  const cronHpaInformer = new Informer({
    ...environment,
    collection: { path: collectionPath(CRON_HPAS) },
    transform: (value) => readCronHpa(value, share),
    indexes: { target: targetsOfCronHpa },
  });
  const hpas = new Informer({
    ...environment,
    collection: { path: collectionPath(HPAS) },
    transform: readHpa,
    indexes: { target: targetsOfHpa },
  });
  const cronHpasByTarget = (target: string) => cronHpaInformer.findBy('target', target);
  const hpasByTarget = (target: string) => hpas.findBy('target', target);
  const series = new CronHpaSeries(registry, () => {
    let ready = 0;
    for (const { status } of cronHpaInformer.values()) if (status.ready?.status === 'True') ready++;
    return { ready, notReady: cronHpaInformer.size - ready };
  });
  const schedules = new Schedules();
  const cronHpas = {
    find: (key: string) => cronHpaInformer.find(key),
    onChange: cronHpaInformer.onChange.bind(cronHpaInformer),
    synced: (signal: AbortSignal) => cronHpaInformer.synced(signal),
    keys: () => [...cronHpaInformer.values()].map(nameOf),
  };
  const known = {
    values: () => cronHpaInformer.values(),
    find: (namespace: string, name: string) => cronHpaInformer.find(`${namespace}/${name}`),
    others(object: CronHpa) {
      const target = targetKey(object.namespace, object.spec.scaleTargetRef);
      const hpa = hpaOf(object, hpasByTarget(target));
      return { hpa, others: cronHpasByTarget(target) };
    },
    planOptions: () => ({ nowMs: clock.nowMs(), timeZone: environment.timeZone, schedules }),
  };
  return {
    start() {
      cronHpaInformer.start();
      hpas.start();
    },
    get isSynced() {
      return cronHpaInformer.isSynced && hpas.isSynced;
    },
    endpoints: new Map([['/debug/cronhpas', debugCronHpas(known)]]),
    ui: [cronHpaUi(known)],
    holdsUp: (namespace, target) =>
      cronHpasByTarget(targetKey(namespace, target)).some(
        ({ status, isBeingDeleted }) => status.scaleUpKeepWindow && !isBeingDeleted,
      ),
    controller: () =>
      cronHpaController({
        ...environment,
        ...{ cronHpas, hpas, cronHpasByTarget, hpasByTarget, series, schedules, clock, newJobId },
        statuses: statusClient(new ResourceClient({ api: client, resource: CRON_HPAS })),
        hpaClient: new ResourceClient({ api: client, resource: HPAS }),
      }),
    async [Symbol.asyncDispose]() {
      await Promise.all([cronHpaInformer[Symbol.asyncDispose](), hpas[Symbol.asyncDispose]()]);
    },
  };
}
