import type { Subsystem } from '#lib/apiserver/subsystem.ts';
import { metricsApiGroup } from './api/metrics-api-group.ts';
import { PodLookup } from './debug/pod-lookup.ts';
import { whyNotServed } from './debug/why-not-served.ts';
import { healthChecks } from './health-checks.ts';
import type { MetricsServerOptions } from './options.ts';
import { createPipeline, type PipelineEnvironment } from './pipeline.ts';
import { UI_PATHS, uiEndpoints } from './ui/ui-endpoints.ts';

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
  const pipeline = await createPipeline(options, environment);
  const { nodes, pods, sink, telemetry, trends } = pipeline;
  const { extraResources, serving } = options;
  const lookup = new PodLookup({ client, clock });
  return {
    groups: [
      metricsApiGroup(
        { snapshot: () => sink.snapshot, nodes, pods, extraResources },
        {
          watch: serving.enableWatch ? { clock, random: Math.random } : undefined,
          onServed: (timestamps) => telemetry.recordServed(timestamps, clock.nowMs()),
        },
      ),
    ],
    healthChecks: healthChecks(pipeline),
    endpoints: new Map([...whyNotServed({ source: pipeline, trends, lookup }), ...uiEndpoints()]),
    openPaths: UI_PATHS,
    start: () => pipeline.start(),
    [Symbol.asyncDispose]: () => pipeline[Symbol.asyncDispose](),
  };
}
