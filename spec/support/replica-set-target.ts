import { refuseRequests } from '#simulator/api-server/faults.ts';
import type { ScaledObjectsCluster } from './scaled-objects-cluster.ts';

/** Where ReplicaSets are. */
export const REPLICA_SETS = '/apis/apps/v1/namespaces/default/replicasets';
/** The one that is made, as a target: of a kind that no informer follows. */
export const REPLICA_SET = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' };

/** Makes it. */
export async function replicaSet(cluster: ScaledObjectsCluster, replicas: number): Promise<void> {
  const labels = { app: 'web' };
  await cluster.create(REPLICA_SETS, {
    ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: REPLICA_SET.name } },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
    },
  });
}

/** Has no scale be read or written from now on. */
export function refuseScales(cluster: ScaledObjectsCluster): void {
  const refuse = refuseRequests({ code: 403, reason: 'Forbidden' });
  cluster.setFaults({
    serve: (request, context) =>
      request.target.isResource && request.target.subresource === 'scale'
        ? refuse.serve(request, context)
        : context.next(),
  });
}
