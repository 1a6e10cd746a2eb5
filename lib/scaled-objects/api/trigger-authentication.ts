import type { Decoded } from '#lib/kubernetes/objects/find-wrong-field.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { TRIGGER_AUTHENTICATION_SCHEMA } from './object-schemas.ts';
import type { ScaledJob } from './scaled-job.ts';
import type { ScaledObject } from './scaled-object.ts';

/** `keda.sh/v1alpha1` TriggerAuthentication and ClusterTriggerAuthentication. */
export interface TriggerAuthentication extends KubernetesObject {
  /** Why the spec is not cached and the object cannot be used; absent if it is cached. */
  readonly omitted?: string;
  readonly spec?: Decoded<typeof TRIGGER_AUTHENTICATION_SCHEMA.spec>;
  readonly status?: Decoded<typeof TRIGGER_AUTHENTICATION_SCHEMA.status>;
}

/** The namespaced kind first. */
export const AUTHENTICATION_KINDS = ['TriggerAuthentication', 'ClusterTriggerAuthentication'] as const;

/** `KIND KEY` of each authentication that an object refers to, without duplicates. */
export function authenticationNames({ metadata, spec }: ScaledObject | ScaledJob): readonly string[] {
  const [namespaced, clusterWide] = AUTHENTICATION_KINDS;
  const names = spec.triggers.flatMap(({ authenticationRef }) => {
    if (!authenticationRef) return [];
    const { name, kind } = authenticationRef;
    return `${kind || namespaced} ${kind === clusterWide ? name : `${metadata.namespace}/${name}`}`;
  });
  return [...new Set(names)];
}
