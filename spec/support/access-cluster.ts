import { Registry } from 'prom-client';
import { startDelegatedAccess } from '#lib/apiserver/access/delegated-access.ts';
import type { ApiServer, ApiServerOptions } from '#lib/apiserver/api-server.ts';
import { loadClusterAccess } from '#lib/kubernetes/access/load-cluster-access.ts';
import { parseOptions } from '#lib/resource-metrics/options.ts';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordingLogger } from './recording-logger.ts';
import { startTestApiServer } from './test-api-server.ts';

/** An API server that lets a simulated cluster decide about its callers. */
export interface AccessCluster extends AsyncDisposable {
  readonly cluster: SimulatedCluster;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly port: number;
  /** Changes some of what the cluster tells of whom to believe. */
  configure(data: Readonly<Record<string, string>>): void;
}

/** The config map in which a cluster tells whom to believe. */
export const CONFIG_MAP = ['configmaps', 'kube-system', 'extension-apiserver-authentication'] as const;

/**
 * Starts both on loopback, with time that stands still.
 *
 * @param flags of the metrics server; those of authentication and authorization count
 * @param given a cluster to use instead of one of its own
 */
export async function startAccessCluster(
  flags: readonly string[] = [],
  served: Partial<ApiServerOptions> = {},
  given?: SimulatedCluster,
): Promise<AccessCluster> {
  await using stack = new AsyncDisposableStack();
  const clock = new ManualClock(Date.now());
  const logger = new RecordingLogger();
  const registry = new Registry();
  const cluster = given ?? stack.use(await startCluster({ nodes: 0 }));
  const commandLine = parseOptions(flags);
  if (commandLine.kind !== 'run') throw new Error('these flags run nothing');
  const kubeconfig = cluster.files.metricsServerKubeconfig;
  const access = await loadClusterAccess({ kubeconfig, clock, logger });
  const delegated = stack.use(
    await startDelegatedAccess(commandLine.options, {
      authenticationAccess: access,
      authorizationAccess: access,
      clock,
      logger,
      userAgent: 'spec',
      registry,
    }),
  );
  const server: ApiServer = stack.use(
    await startTestApiServer({ ...delegated, registry, clock, logger, ...served }),
  );
  const owned = stack.move();
  return {
    cluster,
    clock,
    logger,
    port: server.address.port,
    configure(data) {
      const current = cluster.store.get(...CONFIG_MAP);
      if (!current) throw new Error('the config map is gone');
      const { resourceVersion: _, ...metadata } = current.metadata;
      cluster.store.update('configmaps', {
        ...current,
        metadata,
        data: { ...(current.data as Readonly<Record<string, string>>), ...data },
      });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
