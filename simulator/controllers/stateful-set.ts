import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import type { ControllerContext } from './controller-context.ts';
import { createPod, deleteControlled, isReady, templateHash, workloadSpec, writeStatus } from './workload.ts';

const STATEFUL_SETS = 'statefulsets.apps';
const REVISION = 'controller-revision-hash';

/** Creates and deletes the numbered pods of a StatefulSet, all at once; pods of an earlier template are replaced. */
export function syncStatefulSet(statefulSet: KubernetesObject, context: ControllerContext): void {
  const { name, namespace, uid, deletionTimestamp } = statefulSet.metadata;
  const spec = workloadSpec(statefulSet);
  const revision = `${name}-${templateHash(spec.template)}`;
  const podsNow = () => context.dependents.controlledBy(uid, 'pods');
  if (deletionTimestamp === undefined) {
    const names = new Set(podsNow().map(({ metadata }) => metadata.name));
    for (let ordinal = 0; ordinal < spec.replicas; ordinal++) {
      const podName = `${name}-${ordinal}`;
      const labels = {
        'statefulset.kubernetes.io/pod-name': podName,
        'apps.kubernetes.io/pod-index': String(ordinal),
        [REVISION]: revision,
      };
      if (!names.has(podName)) createPod(statefulSet, context, { name: podName, labels });
    }
    for (const pod of podsNow())
      if (ordinalOf(pod) >= spec.replicas || pod.metadata.labels?.[REVISION] !== revision)
        deleteControlled(pod, 'pods', context);
  }
  const pods = podsNow();
  const updated = pods.filter((pod) => pod.metadata.labels?.[REVISION] === revision).length;
  const ready = pods.filter(isReady).length;
  const status = {
    replicas: pods.length,
    readyReplicas: ready,
    availableReplicas: ready,
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
