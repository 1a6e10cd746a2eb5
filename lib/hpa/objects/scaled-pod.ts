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

export interface InitContainerRequests extends ContainerRequests {
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
