import { fieldAt, type KubernetesObject } from '../objects/kubernetes-object.ts';
import type { ControllerContext } from './controller-context.ts';
import { REPLICA_SETS } from './replica-set.ts';
import {
  condition,
  controllerReference,
  templateHash,
  type WorkloadSpec,
  workloadSpec,
  writeStatus,
} from './workload.ts';

const DEPLOYMENTS = 'deployments.apps';
const HASH = 'pod-template-hash';

/** Scales the ReplicaSet of a Deployment's current template to all replicas and the others to zero, in one step. */
export function syncDeployment(deployment: KubernetesObject, context: ControllerContext): void {
  const { uid, deletionTimestamp, namespace, name } = deployment.metadata;
  const spec = workloadSpec(deployment);
  const owned = () => context.dependents.controlledBy(uid, REPLICA_SETS);
  if (deletionTimestamp === undefined) {
    const current = owned().find((one) => isOfTemplate(one, spec)) ?? createReplicaSet(deployment, context);
    for (const one of owned())
      scaleTo(one, one.metadata.uid === current.metadata.uid ? spec.replicas : 0, context);
  }
  const latest = context.store.get(DEPLOYMENTS, namespace, name);
  if (latest)
    writeStatus(latest, DEPLOYMENTS, { status: statusOf(latest, owned(), { spec, context }), context });
}

function isOfTemplate(replicaSet: KubernetesObject, { template }: WorkloadSpec): boolean {
  return replicaSet.metadata.labels?.[HASH] === templateHash(template);
}

function createReplicaSet(deployment: KubernetesObject, { store }: ControllerContext): KubernetesObject {
  const { name, namespace = 'default' } = deployment.metadata;
  const { template, selector } = workloadSpec(deployment);
  const hash = templateHash(template);
  const labels = { ...template.metadata?.labels, [HASH]: hash };
  return store.create(REPLICA_SETS, {
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      generation: 1,
      labels,
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      replicas: 0,
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
    status: { replicas: 0 },
  });
}

function statusOf(
  deployment: KubernetesObject,
  replicaSets: readonly KubernetesObject[],
  { spec, context }: { readonly spec: WorkloadSpec; readonly context: ControllerContext },
) {
  const current = replicaSets.filter((one) => isOfTemplate(one, spec));
  const total = (field: string) => sum(replicaSets, (one) => count(one, field));
  const updated = sum(current, (one) => count(one, 'replicas'));
  const available = total('availableReplicas');
  const missing = Math.max(0, Math.max(spec.replicas, total('replicas')) - available);
  const isAvailable = available >= spec.replicas;
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

function scaleTo(replicaSet: KubernetesObject, replicas: number, { store }: ControllerContext): void {
  if (workloadSpec(replicaSet).replicas === replicas) return;
  const { metadata, spec } = replicaSet;
  store.update(REPLICA_SETS, {
    ...replicaSet,
    metadata: { ...metadata, generation: (metadata.generation ?? 1) + 1 },
    spec: { ...(spec as object), replicas },
  });
}

function count(replicaSet: KubernetesObject, field: string): number {
  return Number(fieldAt(replicaSet, 'status', field) ?? 0);
}

function sum(objects: readonly KubernetesObject[], numberOf: (object: KubernetesObject) => number): number {
  return objects.reduce((total, object) => total + numberOf(object), 0);
}
