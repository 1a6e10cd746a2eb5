import { Registry } from 'prom-client';
import { startDelegatedAccess } from '#lib/apiserver/access/delegated-access.ts';
import type { ApiServer, ApiServerOptions } from '#lib/apiserver/api-server.ts';
import { loadClusterAccess } from '#lib/kubernetes/access/load-cluster-access.ts';
import { parseOptions } from '#lib/resource-metrics/options.ts';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordingLogger } from './recording-logger.ts';
import { startTestApiServer } from './test-api-server.ts';

/** An API server that delegates authentication and authorization to a simulated cluster. */
export interface AccessCluster extends AsyncDisposable {
  readonly cluster: SimulatedCluster;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly port: number;
  /** Changes data of the config map of front proxy and client CA. */
  configure(data: Readonly<Record<string, string>>): void;
}

/** The config map with the client CA and the front proxy's settings. */
export const CONFIG_MAP = ['configmaps', 'kube-system', 'extension-apiserver-authentication'] as const;

/**
 * Starts both on loopback, with a manual clock.
 *
 * @param flags of the metrics server; only those of authentication and authorization apply
 * @param given an existing cluster; by default, a new one is started
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
