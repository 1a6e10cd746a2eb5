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

/** What the controllers read of a workload's `spec`. */
export type WorkloadSpec = z.output<typeof specSchema>;

/** Reads a workload that may have come into the store unchecked; what makes no sense wants nothing. */
export function workloadSpec(workload: KubernetesObject): WorkloadSpec {
  return specSchema.safeParse(workload.spec).data ?? specSchema.parse({ replicas: 0 });
}

/** A short name of a template, by which pods and ReplicaSets of it are told from others. */
export function templateHash(template: WorkloadSpec['template']): string {
  return createHash('sha256').update(JSON.stringify(template)).digest('hex').slice(0, 10);
}

/** The reference by which an object is controlled by another. */
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
    spec,
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  };
  store.create('pods', pod);
}

/** Deletes a pod, or anything else that a controller has made. */
export function deleteControlled(
  object: KubernetesObject,
  storage: string,
  { store, clock }: ControllerContext,
): void {
  if (object.metadata.deletionTimestamp === undefined) deleteObject(object, { store, clock, storage });
}

/** Whether a pod counts for its controller: it has neither ended nor begun to go. */
export function isActive(pod: KubernetesObject): boolean {
  return !['Succeeded', 'Failed'].includes(phaseOf(pod)) && pod.metadata.deletionTimestamp === undefined;
}

/** `status.phase` of a pod. */
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

/** Stores a status that differs from the present one, and its conditions with the times at which they changed. */
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

/** A condition that keeps its times while it stays as it was. */
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
