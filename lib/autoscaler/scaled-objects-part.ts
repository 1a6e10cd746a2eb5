import type { WorkQueueSeries } from '#lib/control/queue/work-queue-series.ts';
import { runController } from '#lib/control/run-controller.ts';
import {
  API_VERSION,
  CLUSTER_TRIGGER_AUTHENTICATIONS,
  SCALED_JOBS,
  SCALED_OBJECTS,
  TRIGGER_AUTHENTICATIONS,
} from '#lib/scaled-objects/objects/resources.ts';
import type { ScaledObjectsOptions } from '#lib/scaled-objects/scaled-objects-options.ts';
import {
  type ScaledObjectsEnvironment,
  scaledObjectsSubsystem,
} from '#lib/scaled-objects/scaled-objects-subsystem.ts';
import { allTriggers } from '#lib/scaled-objects/triggers/all-triggers.ts';
import { listEndpoints } from '#lib/scaled-objects/triggers/cluster/list-endpoints.ts';
import { listPods } from '#lib/scaled-objects/triggers/cluster/list-pods.ts';
import { openTriggerSources } from '#lib/scaled-objects/triggers/trigger-sources.ts';
import { TriggerTypes } from '#lib/scaled-objects/triggers/trigger-types.ts';
import { raceAbort } from '#lib/time/race-abort.ts';
import { untilAllowed } from './allowed-kinds.ts';
import { untilServed } from './served-kind.ts';
import type { Subsystem } from './subsystem.ts';

/** What flags say of ScaledObjects. */
export interface ScaledObjectsPartOptions {
  readonly workers: number;
  readonly options: ScaledObjectsOptions;
  /** Which hosts triggers may have asked. */
  readonly allowedHosts: readonly string[];
  /** By default of one HTTP request of a trigger. */
  readonly httpTimeoutMs: number;
}

/** What ScaledObjects need as a part of the autoscaler. */
export interface ScaledObjectsPartEnvironment
  extends Omit<ScaledObjectsEnvironment, 'types'>,
    ScaledObjectsPartOptions {
  readonly userAgent: string;
  readonly workQueues: WorkQueueSeries;
}

/** Failures of the API server itself are tried again at the latest after this long. */
const RETRY = { maxDelayMs: 60_000 };
const COLLECTOR_WORKERS = 8;
const KINDS = [SCALED_OBJECTS, SCALED_JOBS, TRIGGER_AUTHENTICATIONS, CLUSTER_TRIGGER_AUTHENTICATIONS];
const HPA_VERSIONS = ['v2', 'v2beta2'];

/** ScaledObjects as a part of the autoscaler: it waits for their definitions and for permission; every replica asks, the leader acts. */
export function scaledObjectsPart(environment: ScaledObjectsPartEnvironment): Subsystem {
  const { client, mapper, clock, logger, workers, workQueues: series, userAgent, allowedHosts } = environment;
  const sources = openTriggerSources({
    ...{ clock, userAgent, allowedHosts, timeoutMs: environment.httpTimeoutMs },
    ...{ listPods: listPods(client), listEndpoints: listEndpoints(client) },
  });
  environment.registry.add(sources.durations.series);
  const scaledObjects = scaledObjectsSubsystem({
    ...environment,
    types: new TriggerTypes(allTriggers(sources)),
  });
  const disposal = new AbortController();
  const { signal } = disposal;
  const started = Promise.withResolvers<void>();
  let isServed = false;
  let following: Promise<void> = Promise.resolve();

  async function follow(): Promise<void> {
    const waiting = { clock, logger, signal, controller: 'scaledobjects' };
    for (const { kind } of KINDS)
      await untilServed({ apiVersion: API_VERSION, kind }, { ...waiting, mapper });
    await untilAllowed(KINDS, { ...waiting, client, namespaces: environment.options.namespaces });
    const kind = 'HorizontalPodAutoscaler';
    await untilServed({ apiVersion: 'autoscaling/v1', kind }, { ...waiting, mapper });
    for (const version of HPA_VERSIONS) {
      const resource = await mapper.findExact({ apiVersion: `autoscaling/${version}`, kind }, signal);
      if (!resource) continue;
      isServed = true;
      scaledObjects.start(resource);
      started.resolve();
      await runController(scaledObjects.collectors(), {
        clock,
        logger,
        signal,
        series,
        workers: COLLECTOR_WORKERS,
        queue: RETRY,
      });
      return;
    }
    logger.warning('The API server serves no HorizontalPodAutoscalers that know external metrics', {});
  }

  return {
    groups: [],
    healthChecks: [
      {
        name: 'scaledobjects-informer-sync',
        endpoints: ['readyz'],
        check: () =>
          !isServed || scaledObjects.isSynced ? undefined : 'its objects have not been listed yet',
      },
      {
        name: 'scaledobjects-triggers',
        endpoints: ['readyz'],
        check: () =>
          !isServed || scaledObjects.isWarm ? undefined : 'some triggers have not been asked yet',
      },
    ],
    endpoints: scaledObjects.endpoints,
    ui: scaledObjects.ui,
    start() {
      following = follow().catch((error: unknown) => {
        if (!signal.aborted) logger.error('Cannot follow ScaledObjects', error);
      });
    },
    async lead(leading) {
      await raceAbort(started.promise, leading).catch(() => {});
      if (leading.aborted) return;
      await scaledObjects.whileAlone(leading, async (acting) => {
        await using jobs = scaledObjects.jobController();
        const run = { clock, logger, signal: acting, series, workers, queue: RETRY };
        await Promise.all(
          [scaledObjects.controller(), jobs, ...scaledObjects.authenticationControllers()].map((controller) =>
            runController(controller, run),
          ),
        );
      });
    },
    async [Symbol.asyncDispose]() {
      disposal.abort(new Error('the program ends'));
      await following;
      await scaledObjects[Symbol.asyncDispose]();
      await sources[Symbol.asyncDispose]();
    },
  };
}
