import type { ApiServer } from '#lib/apiserver/api-server.ts';
import { type SubsystemServerEnvironment, serveSubsystems } from '#lib/apiserver/serve-subsystems.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { addProcessSeries } from '#lib/telemetry/process-series.ts';
import { SlicedRegistry } from '#lib/telemetry/sliced-registry.ts';
import type { MetricsServerOptions } from './options.ts';
import { resourceMetricsSubsystem } from './resource-metrics-subsystem.ts';

/** What the metrics server needs from outside. */
export interface MetricsServerEnvironment extends Omit<SubsystemServerEnvironment, 'registry' | 'userAgent'> {
  /** Told after each cycle how many nodes there are. */
  readonly onCycle?: ((nodes: number) => void) | undefined;
}

/** A running metrics server; disposing it drains the API, then stops scraping. */
export type MetricsServer = ApiServer;

/**
 * Serves resource metrics alone.
 *
 * @throws when a given file cannot be used or the address cannot be listened at
 */
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
