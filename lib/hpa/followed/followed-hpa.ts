import {
  defaultedSpec,
  type HorizontalPodAutoscaler,
  type HpaSpec,
  type HpaStatus,
} from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import {
  type KubernetesObject,
  type ObjectMeta,
  readObject,
} from '#lib/kubernetes/objects/kubernetes-object.ts';
import { type StatusManager, statusManagers } from '#lib/kubernetes/objects/managed-fields.ts';
import { specFromV1, statusFromV1, statusToV1, withoutV1Annotations } from './autoscaling-v1.ts';

/** Versions of the group `autoscaling` that are understood, the preferred one first. */
export const HPA_VERSIONS = ['v2', 'v2beta2', 'v1'] as const;
export type HpaVersion = (typeof HPA_VERSIONS)[number];

/** An HPA as its controller follows it: in the terms of `autoscaling/v2`, whatever it was read as. */
export interface FollowedHpa extends HorizontalPodAutoscaler {
  readonly metadata: ObjectMeta & { readonly namespace: string; readonly uid: string };
  /** Who has written its status, as far as the API server tells. */
  readonly statusWriters: readonly StatusManager[];
}

/** Reads an HPA of the API server. `autoscaling/v2beta2` has the same fields as v2. @throws for what is none */
export function followedHpa(value: unknown, version: HpaVersion): FollowedHpa {
  const object = readObject<KubernetesObject & { readonly spec: HpaSpec; readonly status?: HpaStatus }>(
    value,
  );
  const { managedFields, ...metadata } = object.metadata as ObjectMeta & { readonly managedFields?: unknown };
  const { annotations = {}, namespace = '', uid = '' } = metadata;
  const isV1 = version === 'v1';
  const status = isV1 ? statusFromV1(object.status, annotations) : object.status;
  return {
    metadata: {
      ...metadata,
      namespace,
      uid,
      annotations: isV1 ? withoutV1Annotations(annotations) : annotations,
    },
    spec: defaultedSpec(withoutNulls(isV1 ? specFromV1(object.spec, annotations) : object.spec)),
    ...(status && { status }),
    statusWriters: statusManagers(managedFields),
  };
}

/**
 * An HPA with another status, as it is sent to the API server's status subresource, which takes nothing of its spec: in
 * `autoscaling/v1` without what of that would be in annotations.
 */
export function sentHpa(
  { metadata, spec }: FollowedHpa,
  status: HpaStatus,
  version: HpaVersion,
): KubernetesObject & { readonly spec: object; readonly status: object } {
  if (version !== 'v1') return { metadata, spec, status };
  const { metrics: _metrics, behavior: _behavior, ...specOfV1 } = spec;
  const v1 = statusToV1(status);
  const annotations = { ...metadata.annotations, ...v1.annotations };
  return { metadata: { ...metadata, annotations }, spec: specOfV1, status: v1.status };
}

/** What is null was not written. */
function withoutNulls(spec: HpaSpec): HpaSpec {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null)) as unknown as HpaSpec;
}
