import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import type { ControllerContext } from './controller-context.ts';
import { readyCounts } from './replica-set.ts';
import {
  createPod,
  deleteControlled,
  readySinceMs,
  templateHash,
  workloadSpec,
  writeStatus,
} from './workload.ts';

const STATEFUL_SETS = 'statefulsets.apps';
const REVISION = 'controller-revision-hash';

/** Keeps a StatefulSet's numbered pods, one after the other unless it wants them all at once. */
export function syncStatefulSet(statefulSet: KubernetesObject, context: ControllerContext): void {
  const { name, namespace, uid, deletionTimestamp } = statefulSet.metadata;
  const spec = workloadSpec(statefulSet);
  const revision = `${name}-${templateHash(spec.template)}`;
  const podsNow = () => context.dependents.controlledBy(uid, 'pods');
  if (deletionTimestamp === undefined) {
    const isOrdered = spec.podManagementPolicy !== 'Parallel';
    const byName = new Map(podsNow().map((pod) => [pod.metadata.name, pod]));
    let isWaiting = false;
    for (let ordinal = 0; ordinal < spec.replicas && !isWaiting; ordinal++) {
      const podName = `${name}-${ordinal}`;
      const pod = byName.get(podName);
      const labels = {
        'statefulset.kubernetes.io/pod-name': podName,
        'apps.kubernetes.io/pod-index': String(ordinal),
        [REVISION]: revision,
      };
      if (!pod) createPod(statefulSet, context, { name: podName, labels });
      isWaiting = isOrdered && (!pod || readySinceMs(pod) === undefined);
    }
    const surplus = podsNow()
      .filter((pod) => ordinalOf(pod) >= spec.replicas)
      .sort(byOrdinalDown);
    for (const pod of isOrdered ? surplus.slice(0, 1) : surplus) deleteControlled(pod, 'pods', context);
    // The highest pod of an earlier template makes way once all others are ready.
    const outdated = podsNow()
      .filter((pod) => pod.metadata.labels?.[REVISION] !== revision)
      .sort(byOrdinalDown);
    const areReady =
      podsNow().length === spec.replicas && podsNow().every((pod) => readySinceMs(pod) !== undefined);
    if (outdated[0] && areReady) deleteControlled(outdated[0], 'pods', context);
  }
  const pods = podsNow();
  const updated = pods.filter((pod) => pod.metadata.labels?.[REVISION] === revision).length;
  const counts = readyCounts(pods, { spec, workload: statefulSet, storage: STATEFUL_SETS, context });
  const status = {
    replicas: pods.length,
    ...counts,
    currentReplicas: updated,
    updatedReplicas: updated,
    currentRevision: revision,
    updateRevision: revision,
    collisionCount: 0,
  };
  const latest = context.store.get(STATEFUL_SETS, namespace, name);
  if (latest) writeStatus(latest, STATEFUL_SETS, { status, context });
}

function ordinalOf({ metadata }: KubernetesObject): number {
  return Number(metadata.name.slice(metadata.name.lastIndexOf('-') + 1));
}

function byOrdinalDown(left: KubernetesObject, right: KubernetesObject): number {
  return ordinalOf(right) - ordinalOf(left);
}
