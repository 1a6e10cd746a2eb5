import * as z from 'zod/mini';
import { metricSelector } from '#lib/kubernetes/selectors/selector-object.ts';
import { readObject } from './kubernetes-object.ts';

/** What is kept of a workload: what its scale subresource would say. */
export interface FollowedTarget {
  readonly uid: string | undefined;
  readonly resourceVersion: string;
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly selector: string;
}

const COUNT = z.nullish(z.int().check(z.nonnegative()));
const WORKLOAD = z.object({
  metadata: z.object({ uid: z.optional(z.string()), resourceVersion: z.string() }),
  spec: z.object({
    replicas: COUNT,
    selector: z.nullish(
      z.object({
        matchLabels: z.optional(z.record(z.string(), z.string())),
        matchExpressions: z.optional(
          z.array(
            z.object({ key: z.string(), operator: z.string(), values: z.optional(z.array(z.string())) }),
          ),
        ),
      }),
    ),
  }),
  status: z.nullish(z.object({ replicas: COUNT })),
});

/** Which kinds of `apps` have a scale that is what they say themselves. */
export const FOLLOWED_KINDS: ReadonlySet<string> = new Set(['Deployment', 'ReplicaSet', 'StatefulSet']);

/** Reduces a Deployment, ReplicaSet or StatefulSet to its scale. @throws for what is none */
export function followedTarget(value: unknown): FollowedTarget {
  const { metadata, spec, status } = WORKLOAD.parse(readObject(value));
  return {
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    specReplicas: spec.replicas ?? 1, // as the API server completes it
    statusReplicas: status?.replicas ?? 0,
    selector: spec.selector ? metricSelector(spec.selector as Parameters<typeof metricSelector>[0]) : '',
  };
}
