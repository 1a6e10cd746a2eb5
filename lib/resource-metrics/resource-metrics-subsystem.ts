import { RecentLists } from '#lib/apiserver/resources/recent-lists.ts';
import type { Subsystem } from '#lib/apiserver/subsystem.ts';
import { TimeSlices } from '#lib/concurrency/time-slices.ts';
import { metricsApiGroup } from './api/metrics-api-group.ts';
import { ServedSnapshot } from './api/served-snapshot.ts';
import { whyNotServed } from './debug/debug-endpoints.ts';
import { PodLookup } from './debug/pod-lookup.ts';
import { healthChecks } from './health-checks.ts';
import type { MetricsServerOptions } from './options.ts';
import { createPipeline, type PipelineEnvironment } from './pipeline.ts';
import { UI_PATHS, uiEndpoints } from './ui/ui-endpoints.ts';

/** Who asks once a cycle asks a little earlier or later each time. */
const REMEMBERED_CYCLES = 1.5;

/**
 * Resource metrics as a subsystem: the pipeline, what is served from its snapshots, and what explains them.
 *
 * @throws when a file that a flag names cannot be used
 */
export async function resourceMetricsSubsystem(
  options: MetricsServerOptions,
  environment: PipelineEnvironment,
): Promise<Subsystem> {
  const { client, clock } = environment;
  const recent = new RecentLists({ clock, rememberMs: options.metricResolutionMs * REMEMBERED_CYCLES });
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
    endpoints: new Map([...whyNotServed({ source: pipeline, trends, lookup }), ...uiEndpoints()]),
    openPaths: UI_PATHS,
    start: () => pipeline.start(),
    [Symbol.asyncDispose]: async () => {
      served[Symbol.dispose]();
      await pipeline[Symbol.asyncDispose]();
    },
  };
}
