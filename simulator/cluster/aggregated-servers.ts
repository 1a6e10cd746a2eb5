import type { Aggregator } from '../api-server/aggregation/aggregator.ts';
import type { ServerAddress } from './cluster-options.ts';

/** What a server behind the API server serves, and the service that stands for it. */
interface AggregatedServer {
  readonly service: string;
  readonly versions: readonly { readonly group: string; readonly version: string }[];
}

/** The servers of resource metrics, and of custom and external ones, as the manifests register them. */
export const AGGREGATED_SERVERS = {
  metricsServer: {
    service: 'metrics-server',
    versions: [{ group: 'metrics.k8s.io', version: 'v1beta1' }],
  },
  autoscaler: {
    service: 'autoscaler',
    versions: [
      { group: 'custom.metrics.k8s.io', version: 'v1beta1' },
      { group: 'custom.metrics.k8s.io', version: 'v1beta2' },
      { group: 'external.metrics.k8s.io', version: 'v1beta1' },
    ],
  },
} as const satisfies Record<string, AggregatedServer>;

/** Sends requests for what a server serves to an address from now on. */
export function registerServer(
  aggregator: Aggregator,
  { service, versions }: AggregatedServer,
  { host, port, caPem }: ServerAddress,
): void {
  for (const one of versions) {
    aggregator.register({
      ...{ ...one, host, port },
      service: { namespace: 'kube-system', name: service },
      ...(caPem === undefined ? {} : { caPem }),
    });
  }
}
