import { randomUUID } from 'node:crypto';
import type { Registry } from 'prom-client';
import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { type Controller, runController } from '#lib/control/controller.ts';
import type { ControllerEnvironment, Subsystem } from '#lib/control/subsystem.ts';
import type { PinnedTarget } from '#lib/control/target-pins.ts';
import type { WorkQueueSeries } from '#lib/control/work-queue-series.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { SharedInformer } from '#lib/kubernetes/informer/shared-informers.ts';
import { HPAS, readPlainHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { Schedules } from '#lib/schedule/parse-schedule.ts';
import type { UiPart } from '#lib/ui/page.ts';
import { adjustmentOf, type CronHpa } from './cron-hpa.ts';
import { cronHpaController } from './cron-hpa-controller.ts';
import type { CronHpaKind } from './cron-hpa-kind.ts';
import { cronHpaKinds, type EnabledKinds } from './cron-hpa-kinds.ts';
import { CronHpaSeries } from './observability/cron-hpa-series.ts';
import { cronHpaUi } from './observability/cron-hpa-ui.ts';
import { debugCronHpas } from './observability/debug-cron-hpas.ts';
import { restoreController } from './restore-hpas.ts';
import {
  HPA_NEEDS,
  hpaOf,
  targetedHpa,
  targetKey,
  targetsOfCronHpa,
  targetsOfHpa,
} from './target-conflicts.ts';

interface CronHpaEnvironment extends Omit<ControllerEnvironment, 'mapper'>, EnabledKinds {
  readonly registry: Registry;
  /** Time zone of jobs that name none. */
  readonly timeZone: string;
  /** Concurrent reconciliations; 1 by default. */
  readonly workers?: number;
  readonly workQueues?: WorkQueueSeries | undefined;
  readonly newJobId?: () => string;
}

/** The Cron-HPA controller and its caches. It lists HPAs once its definition is installed. */
export interface CronHpaSubsystem extends Subsystem {
  readonly isSynced: boolean;
  /** Whether the definition is not installed yet. */
  readonly isWaiting: boolean;
  /** Returns new controllers for a leadership term, once the API server serves HPAs. @throws the reason of the signal */
  controllers(signal: AbortSignal): Promise<readonly Controller[]>;
  /** Whether jobs hold the size of the target, or one has scaled it up and none has scaled it down since. */
  isPinned(namespace: string, target: PinnedTarget): boolean;
  readonly ui: readonly UiPart[];
  lead(signal: AbortSignal): Promise<void>;
}

/** Maximum backoff after failures of the API server. */
const MAX_RETRY_MS = 60_000;

/** Wires informers → due activations → scale, status, events. */
export function cronHpaSubsystem(environment: CronHpaEnvironment): CronHpaSubsystem {
  const { client, clock, registry, informers, newJobId = randomUUID } = environment;
  const kinds = cronHpaKinds(environment).map((kind) => ({
    kind,
    cronHpas: informers.get(kind.informed, { indexes: { target: targetsOfCronHpa } }),
  }));
  const hpas = informers.get(HPAS, {
    needs: HPA_NEEDS,
    view: targetedHpa,
    indexes: { target: targetsOfHpa },
  });
  const disposal = new AbortController();
  const cronHpasByTarget = (target: string) =>
    kinds.flatMap(({ cronHpas }) => cronHpas.findBy('target', target));
  const allCronHpas = () => kinds.flatMap(({ cronHpas }) => [...cronHpas.values()]);
  const hpasByTarget = (target: string) => hpas.findBy('target', target);
  const series = new CronHpaSeries(registry, () => {
    let [ready, notReady] = [0, 0];
    for (const { cronHpas } of kinds)
      for (const { status } of cronHpas.values()) {
        if (status.ready?.status === 'True') ready++;
        else notReady++;
      }
    return { ready, notReady };
  });
  const schedules = new Schedules();
  const share = new EventLoopShare(clock);
  const debugged = {
    values: allCronHpas,
    findAll: (namespace: string, name: string) =>
      kinds.flatMap(({ cronHpas }) => cronHpas.find(`${namespace}/${name}`) ?? []),
    others(object: CronHpa) {
      const target = targetKey(object.namespace, object.spec.scaleTargetRef);
      const hpa = hpaOf(object, hpasByTarget(target));
      return { hpa, others: cronHpasByTarget(target) };
    },
    planOptions: () => ({ nowMs: clock.nowMs(), timeZone: environment.timeZone, schedules }),
  };
  const isAbsent = ({ state }: Pick<SharedInformer<CronHpa>, 'state'>) =>
    state === 'idle' || state === 'waiting';
  const isWaiting = () => kinds.every(({ cronHpas }) => isAbsent(cronHpas));
  const isSynced = () =>
    kinds.every(({ cronHpas }) => cronHpas.isSynced || isAbsent(cronHpas)) && !isWaiting() && hpas.isSynced;
  const controllers = async (signal: AbortSignal) => {
    await hpas.served(signal);
    const hpaClient = new ResourceClient({
      ...{ api: client, read: readPlainHpa },
      resource: (signal) => hpas.served(signal),
    });
    const objectsOf = ({ resource }: CronHpaKind) => new ResourceClient({ api: client, resource });
    const dependencies = { ...environment, hpas, cronHpasByTarget, hpasByTarget, hpaClient };
    return [
      ...kinds.map(({ kind, cronHpas }) =>
        cronHpaController({
          ...{ ...dependencies, kind, cronHpas, series, schedules, share, newJobId },
          otherCronHpas: kinds.flatMap((other) => (other.kind === kind ? [] : [other.cronHpas])),
          statuses: kind.openStatuses(objectsOf(kind), clock),
        }),
      ),
      restoreController({
        ...dependencies,
        cronHpas: kinds.map(({ cronHpas }) => cronHpas),
        async listCronHpas(namespace, signal) {
          const lists = kinds.map(async ({ kind }) => {
            const values = await objectsOf(kind).list({ namespace, signal }).catch(noneIfNotServed);
            return values.map((value) => kind.read(value));
          });
          return (await Promise.all(lists)).flat();
        },
      }),
    ];
  };
  return {
    name: 'cronhpa',
    groups: [],
    healthChecks: [
      {
        name: 'cronhpa-informer-sync',
        endpoints: ['readyz'],
        check: () =>
          isWaiting() || isSynced() ? undefined : 'CronHorizontalPodAutoscalers are not listed yet',
      },
    ],
    start() {
      for (const { cronHpas } of kinds) {
        cronHpas.start();
        cronHpas.served(disposal.signal).then(
          () => hpas.start(),
          (error: unknown) => {
            if (!disposal.signal.aborted) throw error; // ends the process
          },
        );
      }
    },
    get isSynced() {
      return isSynced();
    },
    get isWaiting() {
      return isWaiting();
    },
    endpoints: new Map([['/debug/cronhpas', debugCronHpas(debugged)]]),
    ui: [cronHpaUi(debugged)],
    isPinned: (namespace, target) =>
      cronHpasByTarget(targetKey(namespace, target)).some(
        (object) =>
          !object.isBeingDeleted && (object.status.scaleUpKeepWindow || adjustmentOf(object) === 'hold'),
      ),
    controllers,
    async lead(signal) {
      const { workers = 1, workQueues: series, logger } = environment;
      const queue = { maxDelayMs: MAX_RETRY_MS };
      const led = await controllers(signal);
      await Promise.all(
        led.map((one) => runController(one, { clock, logger, signal, workers, series, queue })),
      );
    },
    async [Symbol.asyncDispose]() {
      disposal.abort(new Error('the program is shutting down'));
    },
  };
}

/** Objects of a kind that the API server does not serve do not exist. */
function noneIfNotServed(error: unknown): readonly never[] {
  if (isNotFound(error)) return [];
  throw error;
}
