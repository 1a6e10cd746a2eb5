import type { HealthCheck } from '#lib/apiserver/health/health-check.ts';

/** What the checks look at. */
export interface Checked {
  readonly sink: { readonly isReady: boolean };
  readonly manager: { readonly isTimely: boolean };
  readonly nodes: { readonly isSynced: boolean };
  readonly pods: { readonly isSynced: boolean };
}

/**
 * The checks of this subsystem, under the reference's names and in its order.
 *
 * `/livez` does not ask for the pods as the reference's does: while the API server is down, a restart would lose what is
 * held and bring nothing. The name stays there, for probes that exclude it.
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
