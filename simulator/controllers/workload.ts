import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { deleteObject } from '../objects/deletion.ts';
import {
  fieldAt,
  formatTimestamp,
  type KubernetesObject,
  type NewObject,
} from '../objects/kubernetes-object.ts';
import { generatedName } from '../random.ts';
import { withRequestsOfLimits } from '../resources/kinds/pod-template.ts';
import type { ControllerContext } from './controller-context.ts';

const specSchema = z.looseObject({
  replicas: z.number().default(1),
  selector: z.looseObject({ matchLabels: z.record(z.string(), z.string()).optional() }).default({}),
  template: z
    .looseObject({
      metadata: z
        .looseObject({
          labels: z.record(z.string(), z.string()).optional(),
          annotations: z.record(z.string(), z.string()).optional(),
        })
        .optional(),
      spec: z.looseObject({}).optional(),
    })
    .default({}),
  parallelism: z.number().default(1),
  completions: z.number().optional(),
  backoffLimit: z.number().default(6),
});

/** The fields of a workload's `spec` that controllers read. */
export type WorkloadSpec = z.output<typeof specSchema>;

/** Parses a workload that may be unvalidated; an invalid one has no replicas. */
export function workloadSpec(workload: KubernetesObject): WorkloadSpec {
  return specSchema.safeParse(workload.spec).data ?? specSchema.parse({ replicas: 0 });
}

/** A hash that identifies the template of pods and ReplicaSets. */
export function templateHash(template: WorkloadSpec['template']): string {
  return createHash('sha256').update(JSON.stringify(template)).digest('hex').slice(0, 10);
}

/** The owner reference of a controlled object. */
export function controllerReference({ apiVersion, kind, metadata }: KubernetesObject) {
  return {
    apiVersion,
    kind,
    name: metadata.name,
    uid: metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** Creates a pod of a workload's template. */
export function createPod(
  owner: KubernetesObject,
  { store }: ControllerContext,
  { name, labels = {} }: { readonly name?: string; readonly labels?: Readonly<Record<string, string>> } = {},
): void {
  const { metadata = {}, spec = {} } = workloadSpec(owner).template;
  const generateName = `${owner.metadata.name}-`;
  const pod: NewObject = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name: name ?? generatedName(generateName),
      ...(name === undefined ? { generateName } : {}),
      namespace: owner.metadata.namespace ?? 'default',
      generation: 1,
      labels: { ...metadata.labels, ...labels },
      ...(metadata.annotations ? { annotations: metadata.annotations } : {}),
      ownerReferences: [controllerReference(owner)],
    },
    spec: withRequestsOfLimits(spec),
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  };
  store.create('pods', pod);
}

/** Deletes a pod or another controlled object. */
export function deleteControlled(
  object: KubernetesObject,
  storage: string,
  { store, clock }: ControllerContext,
): void {
  if (object.metadata.deletionTimestamp === undefined) deleteObject(object, { store, clock, storage });
}

/** Whether a pod counts for its controller: it has not ended, and is not being deleted. */
export function isActive(pod: KubernetesObject): boolean {
  return !['Succeeded', 'Failed'].includes(phaseOf(pod)) && pod.metadata.deletionTimestamp === undefined;
}

export function phaseOf(pod: KubernetesObject): string {
  return String(fieldAt(pod, 'status', 'phase') ?? '');
}

/** Whether a pod has the condition Ready. */
export function isReady(pod: KubernetesObject): boolean {
  const conditions = fieldAt(pod, 'status', 'conditions');
  return (
    Array.isArray(conditions) && conditions.some((one) => one?.type === 'Ready' && one.status === 'True')
  );
}

/** Stores a status that differs from the current one. */
export function writeStatus(
  object: KubernetesObject,
  storage: string,
  {
    status,
    context,
  }: { readonly status: Readonly<Record<string, unknown>>; readonly context: ControllerContext },
): void {
  const observed = object.kind === 'Job' ? {} : { observedGeneration: object.metadata.generation ?? 1 };
  const next = { ...observed, ...status };
  if (!isDeepStrictEqual(next, object.status)) context.store.update(storage, { ...object, status: next });
}

/** A condition that retains its times while it does not change. */
export function condition(
  object: KubernetesObject,
  {
    type,
    status,
    reason,
    message,
  }: { type: string; status: 'True' | 'False'; reason: string; message: string },
  { clock }: ControllerContext,
) {
  const now = formatTimestamp(clock.nowMs());
  const conditions = fieldAt(object, 'status', 'conditions');
  const old = Array.isArray(conditions) ? conditions.find((one) => one?.type === type) : undefined;
  const isSame = old?.status === status && old?.reason === reason && old?.message === message;
  return {
    type,
    status,
    lastUpdateTime: isSame ? old.lastUpdateTime : now,
    lastTransitionTime: old?.status === status ? old.lastTransitionTime : now,
    reason,
    message,
  };
}
