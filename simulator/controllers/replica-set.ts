import { fieldAt, type KubernetesObject } from '../objects/kubernetes-object.ts';
import type { ControllerContext } from './controller-context.ts';
import {
  createPod,
  deleteControlled,
  isActive,
  readySinceMs,
  type WorkloadSpec,
  workloadSpec,
  writeStatus,
} from './workload.ts';

/** Where the store keeps ReplicaSets. */
export const REPLICA_SETS = 'replicasets.apps';

/** Keeps as many pods of a ReplicaSet as it wants. */
export function syncReplicaSet(replicaSet: KubernetesObject, context: ControllerContext): void {
  const { dependents } = context;
  const { uid, deletionTimestamp } = replicaSet.metadata;
  const spec = workloadSpec(replicaSet);
  const pods = dependents.controlledBy(uid, 'pods').filter(isActive);
  if (deletionTimestamp === undefined) {
    for (let missing = spec.replicas - pods.length; missing > 0; missing--) createPod(replicaSet, context);
    const surplus = pods.length - spec.replicas;
    if (surplus > 0)
      for (const pod of byWorth(pods).slice(0, surplus)) deleteControlled(pod, 'pods', context);
  }
  const present = dependents.controlledBy(uid, 'pods').filter(isActive);
  const counts = readyCounts(present, { spec, workload: replicaSet, storage: REPLICA_SETS, context });
  const labels = Object.entries(spec.template.metadata?.labels ?? {});
  const isLabelled = (pod: KubernetesObject) =>
    labels.every(([key, value]) => pod.metadata.labels?.[key] === value);
  const current =
    context.store.get(REPLICA_SETS, replicaSet.metadata.namespace, replicaSet.metadata.name) ?? replicaSet;
  const status = {
    replicas: present.length,
    fullyLabeledReplicas: present.filter(isLabelled).length,
    ...counts,
  };
  writeStatus(current, REPLICA_SETS, { status, context });
}

/** Those that are least missed first: not running, then not ready, then the youngest. */
function byWorth(pods: readonly KubernetesObject[]): readonly KubernetesObject[] {
  const worth = (pod: KubernetesObject) =>
    (fieldAt(pod, 'spec', 'nodeName') === undefined ? 0 : 2) + (readySinceMs(pod) === undefined ? 0 : 1);
  // The youngest come last, and go first among equals.
  return [...pods].reverse().sort((left, right) => worth(left) - worth(right));
}

/** How many pods are ready, and for long enough; has those that will be looked at again. */
export function readyCounts(
  pods: readonly KubernetesObject[],
  {
    spec,
    workload,
    storage,
    context,
  }: {
    readonly spec: WorkloadSpec;
    readonly workload: KubernetesObject;
    readonly storage: string;
    readonly context: ControllerContext;
  },
): { readonly readyReplicas: number; readonly availableReplicas: number } {
  const readySince = pods.map(readySinceMs).filter((since) => since !== undefined);
  const minReadyMs = spec.minReadySeconds * 1000;
  const waitsMs = readySince
    .map((since) => since + minReadyMs - context.clock.nowMs())
    .filter((wait) => wait > 0);
  const { namespace, name } = workload.metadata;
  if (waitsMs.length > 0) context.again({ storage, namespace, name }, Math.min(...waitsMs));
  return { readyReplicas: readySince.length, availableReplicas: readySince.length - waitsMs.length };
}
