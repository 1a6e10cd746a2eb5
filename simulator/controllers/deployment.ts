import { isDeepStrictEqual } from 'node:util';
import { fieldAt, type KubernetesObject } from '../objects/kubernetes-object.ts';
import type { ControllerContext } from './controller-context.ts';
import { REPLICA_SETS } from './replica-set.ts';
import {
  condition,
  controllerReference,
  deleteControlled,
  templateHash,
  updateSpec,
  type WorkloadSpec,
  workloadSpec,
  writeStatus,
} from './workload.ts';

const DEPLOYMENTS = 'deployments.apps';
const HASH = 'pod-template-hash';
const REVISION = 'deployment.kubernetes.io/revision';

/** Has ReplicaSets of a Deployment's present template take over from those of earlier ones, step by step. */
export function syncDeployment(deployment: KubernetesObject, context: ControllerContext): void {
  const { uid, deletionTimestamp, namespace, name } = deployment.metadata;
  const spec = workloadSpec(deployment);
  const owned = () => context.dependents.controlledBy(uid, REPLICA_SETS);
  if (deletionTimestamp === undefined) {
    const current = owned().find((one) => isOfTemplate(one, spec)) ?? createReplicaSet(deployment, context);
    rollOut(
      current,
      owned().filter((one) => one.metadata.uid !== current.metadata.uid),
      { spec, context },
    );
    removeOld(
      owned().filter((one) => one.metadata.uid !== current.metadata.uid),
      { spec, context },
    );
  }
  const latest = context.store.get(DEPLOYMENTS, namespace, name);
  if (latest)
    writeStatus(latest, DEPLOYMENTS, { status: statusOf(latest, owned(), { spec, context }), context });
}

function isOfTemplate(replicaSet: KubernetesObject, { template }: WorkloadSpec): boolean {
  return replicaSet.metadata.labels?.[HASH] === templateHash(template);
}

function createReplicaSet(
  deployment: KubernetesObject,
  { store, dependents }: ControllerContext,
): KubernetesObject {
  const { name, namespace = 'default', uid, annotations } = deployment.metadata;
  const { template, selector, minReadySeconds } = workloadSpec(deployment);
  const hash = templateHash(template);
  const revisions = dependents
    .controlledBy(uid, REPLICA_SETS)
    .map((one) => Number(one.metadata.annotations?.[REVISION] ?? 0));
  const revision = String(Math.max(0, ...revisions) + 1);
  const labels = { ...template.metadata?.labels, [HASH]: hash };
  const replicaSet = store.create(REPLICA_SETS, {
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      generation: 1,
      labels,
      annotations: { [REVISION]: revision },
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      replicas: 0,
      ...(minReadySeconds > 0 ? { minReadySeconds } : {}),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
    status: { replicas: 0 },
  });
  const next = { ...deployment.metadata, annotations: { ...annotations, [REVISION]: revision } };
  if (!isDeepStrictEqual(next, deployment.metadata))
    store.update(DEPLOYMENTS, { ...deployment, metadata: next });
  return replicaSet;
}

interface Rollout {
  readonly spec: WorkloadSpec;
  readonly context: ControllerContext;
}

function rollOut(
  current: KubernetesObject,
  old: readonly KubernetesObject[],
  { spec, context }: Rollout,
): void {
  const remaining = old.filter((one) => wanted(one) > 0);
  const pods = sum([current, ...old], wanted);
  if (remaining.length === 0 && sum(old, (one) => count(one, 'replicas')) === 0) {
    scaleTo(current, spec.replicas, context);
    return;
  }
  if (spec.paused) return;
  if (spec.strategy.type === 'Recreate') {
    for (const one of remaining) scaleTo(one, 0, context);
    return;
  }
  const { maxSurge, maxUnavailable } = limits(spec);
  const allowed = Math.max(0, spec.replicas + maxSurge - pods);
  const next = Math.min(spec.replicas, wanted(current) + allowed);
  scaleTo(current, next, context);
  const notReady = next - Math.min(next, count(current, 'availableReplicas'));
  let removable = sum(remaining, wanted) + next - (spec.replicas - maxUnavailable) - notReady;
  for (const one of remaining) {
    const removed = Math.max(0, Math.min(wanted(one), removable));
    removable -= removed;
    scaleTo(one, wanted(one) - removed, context);
  }
}

function limits({ replicas, strategy }: WorkloadSpec): {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
} {
  const { maxSurge = '25%', maxUnavailable = '25%' } = strategy.rollingUpdate ?? {};
  const share = (value: number | string, round: (share: number) => number) =>
    typeof value === 'number' ? value : round((Number.parseFloat(value) / 100) * replicas) || 0;
  const surge = share(maxSurge, Math.ceil);
  const unavailable = share(maxUnavailable, Math.floor);
  // Something must move.
  return { maxSurge: surge, maxUnavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

/** Beyond the limit, ReplicaSets that are empty go, the oldest first. */
function removeOld(old: readonly KubernetesObject[], { spec, context }: Rollout): void {
  const empty = old.filter((one) => wanted(one) === 0 && count(one, 'replicas') === 0);
  const revision = (one: KubernetesObject) => Number(one.metadata.annotations?.[REVISION] ?? 0);
  const oldest = [...empty].sort((left, right) => revision(left) - revision(right));
  for (const one of oldest.slice(0, Math.max(0, empty.length - spec.revisionHistoryLimit)))
    deleteControlled(one, REPLICA_SETS, context);
}

function statusOf(
  deployment: KubernetesObject,
  replicaSets: readonly KubernetesObject[],
  { spec, context }: Rollout,
) {
  const current = replicaSets.filter((one) => isOfTemplate(one, spec));
  const total = (field: string) => sum(replicaSets, (one) => count(one, field));
  const updated = sum(current, (one) => count(one, 'replicas'));
  const available = total('availableReplicas');
  const missing = Math.max(0, Math.max(spec.replicas, total('replicas')) - available);
  const isAvailable = available >= spec.replicas - limits(spec).maxUnavailable;
  const isDone = updated === spec.replicas && total('replicas') === updated && available === updated;
  const name = `ReplicaSet "${current[0]?.metadata.name}"`;
  return {
    replicas: total('replicas'),
    updatedReplicas: updated,
    readyReplicas: total('readyReplicas'),
    availableReplicas: available,
    ...(missing > 0 ? { unavailableReplicas: missing } : {}),
    conditions: [
      condition(
        deployment,
        isAvailable
          ? {
              type: 'Available',
              status: 'True',
              reason: 'MinimumReplicasAvailable',
              message: 'Deployment has minimum availability.',
            }
          : {
              type: 'Available',
              status: 'False',
              reason: 'MinimumReplicasUnavailable',
              message: 'Deployment does not have minimum availability.',
            },
        context,
      ),
      condition(
        deployment,
        isDone
          ? {
              type: 'Progressing',
              status: 'True',
              reason: 'NewReplicaSetAvailable',
              message: `${name} has successfully progressed.`,
            }
          : {
              type: 'Progressing',
              status: 'True',
              reason: 'ReplicaSetUpdated',
              message: `${name} is progressing.`,
            },
        context,
      ),
    ],
  };
}

function scaleTo(replicaSet: KubernetesObject, replicas: number, context: ControllerContext): void {
  if (wanted(replicaSet) !== replicas)
    updateSpec(replicaSet, REPLICA_SETS, { change: { replicas }, context });
}

function wanted(replicaSet: KubernetesObject): number {
  return workloadSpec(replicaSet).replicas;
}

function count(replicaSet: KubernetesObject, field: string): number {
  return Number(fieldAt(replicaSet, 'status', field) ?? 0);
}

function sum(objects: readonly KubernetesObject[], numberOf: (object: KubernetesObject) => number): number {
  return objects.reduce((total, object) => total + numberOf(object), 0);
}
