import * as z from 'zod/mini';

/** What is kept of a pod, to ask it for metrics and to serve them. */
export interface TargetPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Absent until it has one. */
  readonly ip: string | undefined;
  /** Since when it is ready, in milliseconds since the Unix epoch; `undefined` while it is not, and when it is to go. */
  readonly readySinceMs: number | undefined;
}

const POD = z.object({
  metadata: z.object({
    namespace: z.string(),
    name: z.string(),
    uid: z._default(z.string(), ''),
    labels: z._default(z.record(z.string(), z.string()), {}),
    deletionTimestamp: z.optional(z.string()),
  }),
  status: z.optional(
    z.object({
      phase: z.optional(z.string()),
      podIP: z.optional(z.string()),
      conditions: z.optional(
        z.nullable(
          z.array(
            z.object({
              type: z.string(),
              status: z.string(),
              lastTransitionTime: z.optional(z.nullable(z.string())),
            }),
          ),
        ),
      ),
    }),
  ),
});

/** Takes what the API server sent for a pod; `undefined` for what is none. */
export function readTargetPod(value: unknown): TargetPod | undefined {
  const read = POD.safeParse(value);
  if (!read.success) return undefined;
  const { metadata, status } = read.data;
  const { namespace, name, uid, labels, deletionTimestamp } = metadata;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const isReady = ready?.status === 'True' && deletionTimestamp === undefined && status?.phase === 'Running';
  const sinceMs = Date.parse(ready?.lastTransitionTime ?? '');
  return {
    ...{ namespace, name, uid, labels },
    ip: status?.podIP || undefined,
    readySinceMs: isReady ? (Number.isFinite(sinceMs) ? sinceMs : 0) : undefined,
  };
}

const LABELS = 'labels';
const NAMESPACE = 'namespace';

/** By what pods are found: by namespace, and by that with each of their labels. */
export const TARGET_POD_INDEXES = {
  [NAMESPACE]: ({ namespace }: TargetPod) => [namespace],
  [LABELS]: ({ namespace, labels }: TargetPod) =>
    Object.entries(labels).map(([key, value]) => labelWord(namespace, key, value)),
};

/** A label of pods of a namespace, as the index has it. */
export function labelWord(namespace: string, key: string, value: string): string {
  return `${namespace}\n${key}=${value}`;
}

/** A pod of a scaled workload, reduced to what deciding needs: what an informer keeps of each. */
export interface ScaledPod {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly phase: string;
  /** Has a deletionTimestamp. */
  readonly isDeleting: boolean;
  /** `status.startTime`; `undefined` before a kubelet has taken the pod up. */
  readonly startedAtMs: number | undefined;
  /** The condition Ready; `undefined` where the pod has none. */
  readonly ready: { readonly status: string; readonly changedAtMs: number } | undefined;
  readonly containers: readonly ContainerRequests[];
  readonly initContainers: readonly InitContainerRequests[];
  /** `spec.resources.requests`: requests of the pod as a whole. */
  readonly podRequests: Requests;
  readonly overhead: Requests;
}

/** Quantities by resource; a resource that is absent has no request, which differs from `0`. */
export type Requests = Readonly<Record<string, string>>;

export interface ContainerRequests {
  readonly name: string;
  readonly requests: Requests;
}

interface InitContainerRequests extends ContainerRequests {
  /** Restarts always and so runs beside the containers. */
  readonly isSidecar: boolean;
}

/** What is read of a pod in Kubernetes' JSON. */
export interface PodObject {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly containers: readonly ContainerObject[];
    readonly initContainers?: readonly ContainerObject[];
    readonly resources?: { readonly requests?: Requests };
    readonly overhead?: Requests;
  };
  readonly status?: {
    readonly phase?: string;
    readonly startTime?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime?: string | null;
    }[];
  };
}

interface ContainerObject {
  readonly name: string;
  readonly restartPolicy?: string;
  readonly resources?: { readonly requests?: Requests };
}

/** Reduces a pod of the API server. */
export function scaledPod({ metadata, spec, status }: PodObject): ScaledPod {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    name: metadata.name,
    labels: metadata.labels ?? NOTHING,
    phase: status?.phase ?? '',
    isDeleting: metadata.deletionTimestamp !== undefined,
    startedAtMs: status?.startTime === undefined ? undefined : Date.parse(status.startTime),
    ready: ready && {
      status: ready.status,
      // A time that was never set is Go's zero time, which lies before everything.
      changedAtMs: ready.lastTransitionTime ? Date.parse(ready.lastTransitionTime) : Number.NEGATIVE_INFINITY,
    },
    containers: spec.containers.map(containerRequests),
    initContainers: (spec.initContainers ?? []).map((container) => ({
      ...containerRequests(container),
      isSidecar: container.restartPolicy === 'Always',
    })),
    podRequests: spec.resources?.requests ?? NOTHING,
    overhead: spec.overhead ?? NOTHING,
  };
}

const NOTHING: Readonly<Record<string, string>> = {};

function containerRequests({ name, resources }: ContainerObject): ContainerRequests {
  return { name, requests: resources?.requests ?? NOTHING };
}
