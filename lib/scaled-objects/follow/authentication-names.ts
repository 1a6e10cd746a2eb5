import type { ScaledJob } from '../api/scaled-job.ts';
import type { ScaledObject } from '../api/scaled-object.ts';

/** The kinds of authentications: of one namespace, and of all. */
export const AUTHENTICATION_KINDS = ['TriggerAuthentication', 'ClusterTriggerAuthentication'] as const;

/** `KIND KEY` of each authentication that an object refers to. */
export function authenticationNames({ metadata, spec }: ScaledObject | ScaledJob): readonly string[] {
  const [namespaced, clusterWide] = AUTHENTICATION_KINDS;
  const names = spec.triggers.flatMap(({ authenticationRef }) => {
    if (!authenticationRef) return [];
    const { name, kind } = authenticationRef;
    return `${kind || namespaced} ${kind === clusterWide ? name : `${metadata.namespace}/${name}`}`;
  });
  return [...new Set(names)];
}
