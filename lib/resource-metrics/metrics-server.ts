import { startApiServer } from '#lib/apiserver/api-server.ts';
import { openPaths } from '#lib/apiserver/authorization/open-paths.ts';
import { startDelegatedAccess } from '#lib/apiserver/delegated-access.ts';
import type { VersionInfo } from '#lib/apiserver/discovery/version-info.ts';
import { openServingCertificates } from '#lib/apiserver/serving/serving-certificates.ts';
import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { addProcessSeries } from '#lib/telemetry/process-series.ts';
import { SlicedRegistry } from '#lib/telemetry/sliced-registry.ts';
import type { Clock } from '#lib/time/clock.ts';
import { metricsApiGroup } from './api/metrics-api-group.ts';
import { PodLookup } from './debug/pod-lookup.ts';
import { whyNotServed } from './debug/why-not-served.ts';
import { healthChecks } from './health-checks.ts';
import type { MetricsServerOptions } from './options.ts';
import { createPipeline } from './pipeline.ts';
import { UI_PATHS, uiEndpoints } from './ui/ui-endpoints.ts';

/** What the metrics server needs from outside. */
export interface MetricsServerEnvironment {
  readonly access: ClusterAccess;
  /** To the API server that is asked who callers are; by default `access`. */
  readonly authenticationAccess?: ClusterAccess | undefined;
  /** To the API server that is asked what callers may do; by default `access`. */
  readonly authorizationAccess?: ClusterAccess | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: VersionInfo;
}

/** A running metrics server; disposing it drains the API, then stops scraping. */
export interface MetricsServer extends AsyncDisposable {
  readonly address: { readonly address: string; readonly port: number };
}

/**
 * Composes the pipeline, nodes → scrape → batch → sink → api, and starts it.
 *
 * It serves from the first moment, ready or not: the API server needs discovery whatever the state of scraping.
 *
 * @throws when a given file cannot be used or the address cannot be listened at
 */
export async function startMetricsServer(
  options: MetricsServerOptions,
  environment: MetricsServerEnvironment,
): Promise<MetricsServer> {
  const { access, clock, logger, version } = environment;
  await using starting = new AsyncDisposableStack();
  const registry = new SlicedRegistry();
  addProcessSeries(registry);
  const userAgent = `metrics-server/${version.gitVersion}`;
  const client = starting.use(new ApiClient({ access, clock, userAgent }));
  const pipeline = starting.use(await createPipeline(options, { access, client, registry, clock, logger }));

  const certificates = starting.use(await openServingCertificates({ ...options.serving, clock, logger }));
  const { authenticationAccess = access, authorizationAccess = access } = environment;
  const { authenticator, authorizer } = starting.use(
    await startDelegatedAccess(options, {
      authenticationAccess,
      authorizationAccess,
      clock,
      logger,
      userAgent,
      registry,
    }),
  );
  const server = await startApiServer({
    groups: [
      metricsApiGroup(
        {
          snapshot: () => pipeline.sink.snapshot,
          nodes: pipeline.nodes,
          pods: pipeline.pods,
          extraResources: options.extraResources,
        },
        {
          watch: options.serving.enableWatch ? { clock, random: Math.random } : undefined,
          onServed: (timestamps) => pipeline.telemetry.recordServed(timestamps, clock.nowMs()),
        },
      ),
    ],
    healthChecks: healthChecks(pipeline),
    registry,
    endpoints: new Map([
      ...whyNotServed({
        source: pipeline,
        trends: pipeline.trends,
        lookup: new PodLookup({ client, clock }),
      }),
      ...uiEndpoints(),
    ]),
    version,
    ...options.serving,
    certificates,
    authenticator,
    authorizer: openPaths(UI_PATHS, authorizer),
    clock,
    logger,
  });
  starting.use(server);
  pipeline.start(); // only now: a scrape of many nodes may take the last file descriptor, and the API goes before it
  const started = starting.move();
  return { address: server.address, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
