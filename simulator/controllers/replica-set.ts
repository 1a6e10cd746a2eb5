import { fieldAt, type KubernetesObject } from '../objects/kubernetes-object.ts';
import type { ControllerContext } from './controller-context.ts';
import { createPod, deleteControlled, isActive, isReady, workloadSpec, writeStatus } from './workload.ts';

/** The storage of ReplicaSets. */
export const REPLICA_SETS = 'replicasets.apps';

/** Creates and deletes pods until there are `spec.replicas`. */
export function syncReplicaSet(replicaSet: KubernetesObject, context: ControllerContext): void {
  const { dependents } = context;
  const { uid, deletionTimestamp } = replicaSet.metadata;
  const spec = workloadSpec(replicaSet);
  const pods = dependents.controlledBy(uid, 'pods').filter(isActive);
  if (deletionTimestamp === undefined) {
    for (let missing = spec.replicas - pods.length; missing > 0; missing--) createPod(replicaSet, context);
    const surplus = pods.length - spec.replicas;
    if (surplus > 0)
      for (const pod of byDeletionOrder(pods).slice(0, surplus)) deleteControlled(pod, 'pods', context);
  }
  const present = dependents.controlledBy(uid, 'pods').filter(isActive);
  const ready = present.filter(isReady).length;
  const labels = Object.entries(spec.template.metadata?.labels ?? {});
  const isLabelled = (pod: KubernetesObject) =>
    labels.every(([key, value]) => pod.metadata.labels?.[key] === value);
  const current =
    context.store.get(REPLICA_SETS, replicaSet.metadata.namespace, replicaSet.metadata.name) ?? replicaSet;
  const status = {
    replicas: present.length,
    fullyLabeledReplicas: present.filter(isLabelled).length,
    readyReplicas: ready,
    availableReplicas: ready,
  };
  writeStatus(current, REPLICA_SETS, { status, context });
}

/** Pods in the order in which they are deleted: not running, then not ready, then the youngest. */
function byDeletionOrder(pods: readonly KubernetesObject[]): readonly KubernetesObject[] {
  const worth = (pod: KubernetesObject) =>
    (fieldAt(pod, 'spec', 'nodeName') === undefined ? 0 : 2) + (isReady(pod) ? 1 : 0);
  // The youngest are last in the list, and first among equals here.
  return [...pods].reverse().sort((left, right) => worth(left) - worth(right));
}
