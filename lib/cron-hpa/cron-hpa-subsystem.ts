import { randomUUID } from 'node:crypto';
import type { Registry } from 'prom-client';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import type { Controller } from '#lib/control/controller.ts';
import type { EventRecorder } from '#lib/control/event-recorder.ts';
import type { ScaleClient } from '#lib/control/scale-client.ts';
import type { ScaleLog } from '#lib/control/scale-log.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import { HPAS } from '#lib/kubernetes/objects/hpa-versions.ts';
import { Schedules } from '#lib/schedule/schedules.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { HasUi } from '#lib/ui/page.ts';
import { CRON_HPA_KIND, CRON_HPAS, type CronHpa, nameOf, type ScaleTargetRef } from './cron-hpa.ts';
import { cronHpaController, statusClient } from './cron-hpa-controller.ts';
import { CronHpaSeries } from './observability/cron-hpa-series.ts';
import { type CronHpaUiPart, cronHpaUi } from './observability/cron-hpa-ui.ts';
import { debugCronHpas } from './observability/debug-cron-hpas.ts';
import {
  HPA_NEEDS,
  hpaOf,
  targetedHpa,
  targetKey,
  targetsOfCronHpa,
  targetsOfHpa,
} from './target-conflicts.ts';

/** What Cron-HPA needs from outside. */
export interface CronHpaEnvironment {
  readonly client: ApiClient;
  readonly informers: SharedInformers;
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

/** Cron-HPA, ready to be started; disposing it ends what waits for its definition. */
export interface CronHpaSubsystem extends AsyncDisposable, HasUi<CronHpaUiPart> {
  /** Begins to cache the objects, as every replica does, and HPAs once the definition is installed. */
  start(): void;
  readonly isSynced: boolean;
  /** Whether it waits for its definition. */
  readonly isWaiting: boolean;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  /** What the leader runs: a new one for each term. Waits until the API server serves HPAs. @throws the signal's reason */
  controller(signal: AbortSignal): Promise<Controller>;
  /** Whether an object holds up a target: a job has scaled it up, and none has scaled it down since. */
  holdsUp(namespace: string, target: ScaleTargetRef): boolean;
}

/** Puts Cron-HPA together: informers → due activations → scale, status, events. */
export function cronHpaSubsystem(environment: CronHpaEnvironment): CronHpaSubsystem {
  const { client, clock, registry, informers, newJobId = randomUUID } = environment;
  const cronHpaInformer = informers.get(CRON_HPA_KIND, { indexes: { target: targetsOfCronHpa } });
  const hpas = informers.get(HPAS, {
    needs: HPA_NEEDS,
    view: targetedHpa,
    indexes: { target: (hpa) => targetsOfHpa(targetedHpa(hpa)) },
  });
  const disposal = new AbortController();
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
      cronHpaInformer.served(disposal.signal).then(
        () => hpas.start(),
        () => {}, // disposed of while it waited
      );
    },
    get isSynced() {
      return cronHpaInformer.isSynced && hpas.isSynced;
    },
    get isWaiting() {
      return cronHpaInformer.state === 'idle' || cronHpaInformer.state === 'waiting';
    },
    endpoints: new Map([['/debug/cronhpas', debugCronHpas(known)]]),
    ui: [cronHpaUi(known)],
    holdsUp: (namespace, target) =>
      cronHpasByTarget(targetKey(namespace, target)).some(
        ({ status, isBeingDeleted }) => status.scaleUpKeepWindow && !isBeingDeleted,
      ),
    async controller(signal) {
      const resource = await hpas.served(signal);
      return cronHpaController({
        ...environment,
        ...{ cronHpas, hpas, cronHpasByTarget, hpasByTarget, series, schedules, clock, newJobId },
        statuses: statusClient(new ResourceClient({ api: client, resource: CRON_HPAS }), clock),
        hpaClient: new ResourceClient({ api: client, resource }),
      });
    },
    async [Symbol.asyncDispose]() {
      disposal.abort(new Error('the program ends'));
    },
  };
}
