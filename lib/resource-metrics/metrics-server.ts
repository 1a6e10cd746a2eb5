import type { ApiServer } from '#lib/apiserver/api-server.ts';
import type { HealthCheck } from '#lib/apiserver/health.ts';
import { RecentLists } from '#lib/apiserver/resources/recent-lists.ts';
import {
  type ServedSubsystem,
  type SubsystemServerEnvironment,
  serveSubsystems,
} from '#lib/apiserver/subsystems.ts';
import { TimeSlices } from '#lib/concurrency/event-loop.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { addProcessSeries } from '#lib/telemetry/process-series.ts';
import { SlicedRegistry } from '#lib/telemetry/sliced-registry.ts';
import { metricsApiGroup } from './api/metrics-api-group.ts';
import { ServedSnapshot } from './api/served-snapshot.ts';
import { debugEndpoints } from './debug/debug-endpoints.ts';
import { PodLookup } from './debug/pod-lookup.ts';
import type { MetricsServerOptions } from './options.ts';
import { createPipeline, type PipelineEnvironment } from './pipeline.ts';
import { UI_PATHS, uiEndpoints } from './ui-endpoints.ts';

interface MetricsServerEnvironment extends Omit<SubsystemServerEnvironment, 'registry' | 'userAgent'> {
  /** Called after each cycle with the number of nodes. */
  readonly onCycle?: ((nodes: number) => void) | undefined;
}

/** Disposal drains the API, then stops scraping. */
type MetricsServer = ApiServer;

/** @throws if a file of a flag cannot be read, or the address cannot be bound */
export async function startMetricsServer(
  options: MetricsServerOptions,
  environment: MetricsServerEnvironment,
): Promise<MetricsServer> {
  const { access, clock, logger, version, onCycle } = environment;
  await using starting = new AsyncDisposableStack();
  const registry = new SlicedRegistry();
  addProcessSeries(registry);
  const userAgent = `metrics-server/${version.gitVersion}`;
  const client = starting.use(new ApiClient({ access, clock, userAgent }));
  const subsystem = starting.use(
    await resourceMetricsSubsystem(options, { access, client, registry, clock, logger, onCycle }),
  );
  const { address } = starting.use(
    await serveSubsystems([subsystem], options, { ...environment, registry, userAgent }),
  );
  const started = starting.move();
  return { address, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

/** Clients that poll once per cycle do so with some jitter. */
const MAX_LIST_AGE_CYCLES = 1.5;

/**
 * The resource metrics subsystem: pipeline, API, and debug endpoints.
 *
 * @throws if a file of a flag cannot be read
 */
async function resourceMetricsSubsystem(
  options: MetricsServerOptions,
  environment: PipelineEnvironment,
): Promise<ServedSubsystem> {
  const { client, clock } = environment;
  const recent = new RecentLists({ clock, recentMs: options.metricResolutionMs * MAX_LIST_AGE_CYCLES });
  const slices = new TimeSlices();
  const served: ServedSnapshot = new ServedSnapshot({
    clock,
    latest: () => pipeline.sink.snapshot,
    isAwaited: () => !recent.isEmpty,
    prepare: (snapshot, signal) => recent.encodeAhead(group.nextObjects(snapshot), { slices, signal }),
    onFailure: (error) => pipeline.guard.report('api', error),
  });
  const pipeline = await createPipeline(options, {
    ...environment,
    replaceSnapshot: (publish) => served.replaceBy(publish),
  });
  const { nodes, pods, telemetry, trends } = pipeline;
  const { extraResources, serving } = options;
  const lookup = new PodLookup({ client, clock });
  const group = metricsApiGroup(
    { snapshot: () => served.current, nodes, pods, extraResources },
    {
      watch: serving.enableWatch ? { clock, random: Math.random } : undefined,
      onServed: (timestamps) => telemetry.recordServed(timestamps, clock.nowMs()),
      recent,
    },
  );
  return {
    groups: [group],
    healthChecks: healthChecks(pipeline),
    endpoints: new Map([...debugEndpoints({ source: pipeline, trends, lookup }), ...uiEndpoints()]),
    openPaths: UI_PATHS,
    start: () => pipeline.start(),
    [Symbol.asyncDispose]: async () => {
      served[Symbol.dispose]();
      await pipeline[Symbol.asyncDispose]();
    },
  };
}

export interface Checked {
  readonly sink: { readonly isReady: boolean };
  readonly manager: { readonly isTimely: boolean };
  readonly nodes: { readonly isSynced: boolean };
  readonly pods: { readonly isSynced: boolean };
}

/**
 * Health checks with the names and order of metrics-server.
 *
 * Unlike metrics-server's, `/livez` does not depend on the pods: while the API server is down, a restart would lose
 * cached metrics without benefit. The name remains for probes that exclude it.
 */
export function healthChecks({ sink, manager, nodes, pods }: Checked): readonly HealthCheck[] {
  return [
    {
      name: 'metric-storage-ready',
      endpoints: ['readyz'],
      check: () => (sink.isReady ? undefined : 'no metrics to serve'),
    },
    {
      name: 'metric-collection-timely',
      endpoints: ['livez'],
      check: () => (manager.isTimely ? undefined : 'the last cycle began too long ago'),
    },
    {
      name: 'metric-informer-sync',
      endpoints: ['readyz'],
      check: () => (nodes.isSynced ? undefined : 'the nodes have not been listed yet'),
    },
    {
      name: 'metadata-informer-sync',
      endpoints: ['healthz', 'readyz'],
      check: () => (pods.isSynced ? undefined : 'the pods have not been listed yet'),
    },
    { name: 'metadata-informer-sync', endpoints: ['livez'], check: () => undefined },
  ];
}
