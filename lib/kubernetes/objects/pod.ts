import { createStringInterner } from '#lib/cache/interner.ts';
import { equalityOf, type LabelSelector } from '../selectors/label-selector.ts';
import { readObject } from './kubernetes-object.ts';

/** A pod as informers cache it. */
export interface Pod extends ScaledPod {
  readonly namespace: string;
  readonly uid: string;
  /** Absent until it has one, and where no user needs it. */
  readonly ip: string | undefined;
}

/** What one user of pods needs beside their labels and whether they are ready. */
export interface PodNeeds {
  /** `requests` are those of containers and of the pod, with its start time; `address` is its identity and its IP. */
  readonly fields: readonly ('requests' | 'address')[];
}

/** Equal in many pods: namespaces, phases. */
const SHARED_TEXTS = { capacity: 5_000, maxKeyLength: 63 };

/** Pods as informers cache them. */
export const PODS = {
  resource: { group: '', kind: 'Pod', plural: 'pods', namespaced: true },
  versions: ['v1'],
  decoder(needs: readonly PodNeeds[]): (value: unknown) => Pod {
    const fields = new Set(needs.flatMap((need) => need.fields));
    const texts = createStringInterner(SHARED_TEXTS);
    return (value) => {
      const pod: CachedPodObject = readObject(value);
      const { namespace, uid } = pod.metadata;
      const needed = fields.has('requests') ? pod : { ...pod, spec: NO_SPEC };
      const scaled = scaledPod(needed);
      const needsAddress = fields.has('address');
      // Spelt out: objects that are made by spreading take more memory.
      return {
        namespace: texts.intern(textIn(namespace)),
        name: scaled.name,
        labels: scaled.labels,
        uid: needsAddress ? textIn(uid) : '',
        ip: (needsAddress && pod.status?.podIP) || undefined,
        phase: texts.intern(textIn(scaled.phase)),
        isDeleting: scaled.isDeleting,
        startedAtMs: fields.has('requests') ? scaled.startedAtMs : undefined,
        ready: scaled.ready,
        containers: scaled.containers,
        initContainers: scaled.initContainers,
        podRequests: scaled.podRequests,
        overhead: scaled.overhead,
      };
    };
  },
} as const;

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

type CachedPodObject = PodObject & {
  readonly metadata: { readonly namespace?: string; readonly uid?: string };
  readonly status?: { readonly podIP?: string };
};

const NO_SPEC: PodObject['spec'] = { containers: [] };

const LABELS = 'labels';
const NAMESPACE = 'namespace';

/** By what pods are found: by namespace, and by that with each of their labels. */
export const POD_INDEXES = {
  [NAMESPACE]: ({ namespace }: Pick<Pod, 'namespace'>) => [namespace],
  [LABELS]: ({ namespace, labels }: Pick<Pod, 'namespace' | 'labels'>) =>
    Object.entries(labels).map(([key, value]) => labelWord(namespace, key, value)),
};

/** Pods, as an informer that has {@link POD_INDEXES} finds them. */
export interface IndexedPods<T> {
  findBy(index: keyof typeof POD_INDEXES, word: string): readonly T[];
}

/** The pods of a namespace that a selector selects; only those with one of its labels are looked at. */
export function selectPods<T extends Pick<Pod, 'labels'>>(
  pods: IndexedPods<T>,
  namespace: string,
  selector: LabelSelector,
): readonly T[] {
  const equality = equalityOf(selector);
  const candidates = equality
    ? pods.findBy(LABELS, labelWord(namespace, equality.key, equality.value))
    : pods.findBy(NAMESPACE, namespace);
  return candidates.filter(({ labels }) => selector.matches(labels));
}

/** A label of pods of a namespace, as the index has it. */
function labelWord(namespace: string, key: string, value: string): string {
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
  const conditions = Array.isArray(status?.conditions) ? status.conditions : NONE;
  const ready = conditions.find((condition) => condition?.type === 'Ready');
  return {
    name: metadata.name,
    labels: typeof metadata.labels === 'object' ? (metadata.labels ?? NOTHING) : NOTHING,
    phase: status?.phase ?? '',
    isDeleting: metadata.deletionTimestamp !== undefined,
    startedAtMs: status?.startTime === undefined ? undefined : Date.parse(status.startTime),
    ready: ready && {
      status: ready.status,
      // A time that was never set is Go's zero time, which lies before everything.
      changedAtMs: ready.lastTransitionTime ? Date.parse(ready.lastTransitionTime) : Number.NEGATIVE_INFINITY,
    },
    containers: spec.containers.length === 0 ? NONE : spec.containers.map(containerRequests),
    initContainers:
      spec.initContainers?.map((container) => ({
        ...containerRequests(container),
        isSidecar: container.restartPolicy === 'Always',
      })) ?? NONE,
    podRequests: spec.resources?.requests ?? NOTHING,
    overhead: spec.overhead ?? NOTHING,
  };
}

const NOTHING: Readonly<Record<string, string>> = {};
const NONE: readonly never[] = [];

function containerRequests({ name, resources }: ContainerObject): ContainerRequests {
  return { name, requests: resources?.requests ?? NOTHING };
}
