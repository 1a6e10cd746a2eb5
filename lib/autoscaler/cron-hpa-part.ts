import { runController } from '#lib/control/controller.ts';
import type { WorkQueueSeries } from '#lib/control/work-queue-metrics.ts';
import { CRON_HPA } from '#lib/cron-hpa/cron-hpa.ts';
import {
  type CronHpaEnvironment,
  type CronHpaSubsystem,
  cronHpaSubsystem,
} from '#lib/cron-hpa/cron-hpa-subsystem.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { untilServed } from '#lib/kubernetes/informer/wait-until-served.ts';
import type { LeaderSubsystem } from './leader-subsystem.ts';

/** What Cron-HPA needs as a part of the autoscaler. */
export interface CronHpaPartEnvironment extends CronHpaEnvironment {
  readonly mapper: RestMapper;
  readonly workers: number;
  readonly workQueues: WorkQueueSeries;
}

/** Cron-HPA as a part, which others ask what it holds up. */
export type CronHpaPart = LeaderSubsystem & Pick<CronHpaSubsystem, 'holdsUp'>;

/** Failures of the API server itself are tried again at the latest after this long. */
const LONGEST_RETRY_MS = 60_000;

/** Cron-HPA as a part of the autoscaler: it waits for its definition, follows its objects, and acts while it leads. */
export function cronHpaPart(environment: CronHpaPartEnvironment): CronHpaPart {
  const { mapper, workers, workQueues: series, clock, logger } = environment;
  const cronHpa = cronHpaSubsystem(environment);
  const disposal = new AbortController();
  const kind = { apiVersion: `${CRON_HPA.group}/${CRON_HPA.version}`, kind: CRON_HPA.kind };
  let isServed = false;
  let following: Promise<void> = Promise.resolve();
  return {
    groups: [],
    healthChecks: [
      {
        name: 'cronhpa-informer-sync',
        endpoints: ['readyz'],
        check: () => (!isServed || cronHpa.isSynced ? undefined : 'its objects have not been listed yet'),
      },
    ],
    endpoints: cronHpa.endpoints,
    ui: cronHpa.ui,
    holdsUp: (namespace, target) => cronHpa.holdsUp(namespace, target),
    start() {
      const { signal } = disposal;
      following = untilServed(kind, { mapper, clock, logger, signal, controller: 'cronhpa' }).then(
        () => {
          isServed = true;
          cronHpa.start();
        },
        () => {}, // disposed of while it waited
      );
    },
    async lead(signal) {
      const queue = { maxDelayMs: LONGEST_RETRY_MS };
      await runController(cronHpa.controller(), { clock, logger, signal, workers, series, queue });
    },
    async [Symbol.asyncDispose]() {
      disposal.abort(new Error('the program ends'));
      await following;
      await cronHpa[Symbol.asyncDispose]();
    },
  };
}
