import { runController } from '#lib/control/controller.ts';
import type { WorkQueueSeries } from '#lib/control/work-queue-metrics.ts';
import {
  type CronHpaEnvironment,
  type CronHpaSubsystem,
  cronHpaSubsystem,
} from '#lib/cron-hpa/cron-hpa-subsystem.ts';
import type { LeaderSubsystem } from './leader-subsystem.ts';

/** What Cron-HPA needs as a part of the autoscaler. */
export interface CronHpaPartEnvironment extends CronHpaEnvironment {
  readonly workers: number;
  readonly workQueues: WorkQueueSeries;
}

/** Cron-HPA as a part, which others ask what it holds up. */
export type CronHpaPart = LeaderSubsystem & Pick<CronHpaSubsystem, 'holdsUp'>;

/** Failures of the API server itself are tried again at the latest after this long. */
const LONGEST_RETRY_MS = 60_000;

/** Cron-HPA as a part of the autoscaler: it waits for its definition, follows its objects, and acts while it leads. */
export function cronHpaPart(environment: CronHpaPartEnvironment): CronHpaPart {
  const { workers, workQueues: series, clock, logger } = environment;
  const cronHpa = cronHpaSubsystem(environment);
  return {
    groups: [],
    healthChecks: [
      {
        name: 'cronhpa-informer-sync',
        endpoints: ['readyz'],
        check: () =>
          cronHpa.isWaiting || cronHpa.isSynced ? undefined : 'its objects have not been listed yet',
      },
    ],
    endpoints: cronHpa.endpoints,
    ui: cronHpa.ui,
    holdsUp: (namespace, target) => cronHpa.holdsUp(namespace, target),
    start: () => cronHpa.start(),
    async lead(signal) {
      const queue = { maxDelayMs: LONGEST_RETRY_MS };
      const controller = await cronHpa.controller(signal).catch(() => undefined); // does not lead any more
      if (controller) await runController(controller, { clock, logger, signal, workers, series, queue });
    },
    [Symbol.asyncDispose]: () => cronHpa[Symbol.asyncDispose](),
  };
}
