import * as z from 'zod';
import { metricSelector } from '../selectors/selector-object.ts';
import { readAs } from './find-wrong-field.ts';
import { readObject } from './kubernetes-object.ts';

/** A workload as informers cache it: the parts that its users need. */
export interface CachedWorkload {
  readonly scale?: WorkloadScale;
  readonly workload?: Workload;
}

/** What the scale subresource of a workload would return. */
export interface WorkloadScale {
  readonly uid: string | undefined;
  readonly resourceVersion: string;
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly selector: string;
}

/** Replicas of a workload, and resources of its containers. */
export interface Workload {
  readonly replicas: number;
  readonly readyReplicas: number;
  /** Of its containers: names of resources with a request or limit. */
  readonly containers: readonly { readonly name: string; readonly resources: readonly string[] }[];
}

/** Parts that one user of workloads needs. */
interface WorkloadNeeds {
  readonly parts: readonly (keyof CachedWorkload)[];
}

/** The kinds of `apps` whose scale follows from the object itself, as informers cache them. */
export const WORKLOADS = {
  Deployment: workloadKind('Deployment', 'deployments'),
  ReplicaSet: workloadKind('ReplicaSet', 'replicasets'),
  StatefulSet: workloadKind('StatefulSet', 'statefulsets'),
} as const;

/** Characters. A tenant may create hundreds of workloads with 1 MB of them; a scale that is not cached is requested. */
const MAX_CACHED_SELECTOR = 4096;
/** Kubelets start 110 pods by default, and none starts a pod of so many containers. */
const MAX_CONTAINERS = 1000;

function workloadKind(kind: string, plural: string) {
  return {
    resource: { group: 'apps', kind, plural, namespaced: true },
    versions: ['v1'],
    decoder(needs: readonly WorkloadNeeds[]): (value: unknown) => CachedWorkload {
      const parts = new Set(needs.flatMap((need) => need.parts));
      return (value) => {
        const scale = parts.has('scale') ? readWorkloadScale(value) : undefined;
        return {
          ...(scale && scale.selector.length <= MAX_CACHED_SELECTOR && { scale }),
          ...(parts.has('workload') && { workload: readWorkload(value) }),
        };
      };
    },
  } as const;
}

const COUNT = z.int().nonnegative().nullish();
const WORKLOAD = z.object({
  metadata: z.object({ uid: z.string().optional(), resourceVersion: z.string() }),
  spec: z.object({
    replicas: COUNT,
    selector: z
      .object({
        matchLabels: z.record(z.string(), z.string()).optional(),
        matchExpressions: z
          .array(z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() }))
          .optional(),
      })
      .nullish(),
  }),
  status: z.object({ replicas: COUNT }).nullish(),
});

/**
 * Reduces a Deployment, ReplicaSet or StatefulSet to its scale.
 *
 * @throws for anything else
 */
export function readWorkloadScale(value: unknown): WorkloadScale {
  const { metadata, spec, status } = readAs(WORKLOAD, 'a workload', readObject(value));
  return {
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    specReplicas: spec.replicas ?? 1, // the API server's default
    statusReplicas: status?.replicas ?? 0,
    selector: spec.selector ? metricSelector(spec.selector as Parameters<typeof metricSelector>[0]) : '',
  };
}

const AMOUNTS = z.record(z.string(), z.union([z.string(), z.number()])).nullish();
const CONTAINER = z.object({
  name: z.string(),
  resources: z.object({ requests: AMOUNTS, limits: AMOUNTS }).nullish(),
});
const REPLICATED = z.object({
  spec: z
    .object({
      replicas: COUNT,
      template: z
        .object({ spec: z.object({ containers: z.array(CONTAINER).nullish() }).nullish() })
        .nullish(),
    })
    .nullish(),
  status: z.object({ readyReplicas: COUNT }).nullish(),
});

/** Reduces a Deployment or StatefulSet to its replicas and containers. @throws for what is none, or has too many containers */
export function readWorkload(value: unknown): Workload {
  const { spec, status } = readAs(REPLICATED, 'a workload', value);
  const containers = spec?.template?.spec?.containers ?? [];
  if (containers.length > MAX_CONTAINERS)
    throw new Error(`Cannot read a workload: more than ${MAX_CONTAINERS} containers`);
  return {
    replicas: spec?.replicas ?? 1,
    readyReplicas: status?.readyReplicas ?? 0,
    containers: containers.map(({ name, resources }) => ({
      name,
      resources: [resources?.requests, resources?.limits].flatMap(nonZeroResources),
    })),
  };
}

/** Names of resources with an amount above zero. */
function nonZeroResources(amounts: z.output<typeof AMOUNTS>): readonly string[] {
  return Object.entries(amounts ?? {})
    .filter(([, amount]) => /[1-9]/.test(`${amount}`))
    .map(([name]) => name);
}
