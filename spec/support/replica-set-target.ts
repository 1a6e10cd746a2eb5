import { refuseRequests } from '#simulator/api-server/faults.ts';
import type { ScaledObjectsCluster } from './scaled-objects-cluster.ts';

export const REPLICA_SETS = '/apis/apps/v1/namespaces/default/replicasets';
/** The created ReplicaSet as a scale target; no informer watches its kind. */
export const REPLICA_SET = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' };

/** Creates the ReplicaSet. */
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

/** Makes reads and writes of scales fail from now on. */
export function refuseScales(cluster: ScaledObjectsCluster): void {
  const refuse = refuseRequests({ code: 403, reason: 'Forbidden' });
  cluster.setFaults({
    serve: (request, context) =>
      request.target.isResource && request.target.subresource === 'scale'
        ? refuse.serve(request, context)
        : context.next(),
  });
}
