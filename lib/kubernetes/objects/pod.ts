import { createStringInterner } from '#lib/cache/interner.ts';
import { equalityOf, type LabelSelector } from '../selectors/label-selector.ts';
import { MAX_LABELS_BYTES, sizeOfTexts, TEXT_BYTES } from './text-size.ts';

/** A pod as informers cache it. */
export interface Pod extends ScaledPod {
  readonly namespace: string;
  readonly uid: string;
  /** Absent until it has one, and where no user needs it. */
  readonly ip: string | undefined;
  /** Why its labels and requests are not cached, so that no selection is certain; `undefined` where they are. */
  readonly omitted: string | undefined;
}

/** Requirements of one user of pods, beside labels and readiness. */
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
    const [needsRequests, needsAddress] = [fields.has('requests'), fields.has('address')];
    return (value) => {
      const pod = recordIn(value, 'the object');
      const metadata = readMetadata(pod);
      const status = readStatus(pod);
      const allRequests = needsRequests ? readRequests(pod) : NO_REQUESTS;
      const isBounded = sizeOfTexts(metadata.labels) + sizeOfRequests(allRequests) <= MAX_LABELS_BYTES;
      const requests = isBounded ? allRequests : NO_REQUESTS;
      // Spelled out: objects that are created by spreading take more memory.
      return {
        namespace: texts.intern(textIn(metadata.namespace, 'metadata.namespace')),
        name: metadata.name,
        labels: isBounded ? metadata.labels : NOTHING,
        uid: needsAddress ? textIn(metadata.uid, 'metadata.uid') : '',
        ip: (needsAddress && textIn(status.podIp, 'status.podIP')) || undefined,
        phase: texts.intern(status.phase),
        isDeleting: metadata.isDeleting,
        startedAtMs: needsRequests ? status.startedAtMs : undefined,
        ready: status.ready,
        containers: requests.containers,
        initContainers: requests.initContainers,
        podRequests: requests.podRequests,
        overhead: requests.overhead,
        omitted: isBounded ? undefined : OMITTED_TEXT,
      };
    };
  },
} as const;

const LABELS = 'labels';
const NAMESPACE = 'namespace';
const OMITTED = 'omitted';

/** Indexes of pods: by namespace, by namespace with each label, and the omitted ones by namespace. */
export const POD_INDEXES = {
  [OMITTED]: ({ namespace, omitted }: Pick<Pod, 'namespace'> & Partial<Pick<Pod, 'omitted'>>) =>
    omitted === undefined ? [] : [namespace],
  [NAMESPACE]: ({ namespace }: Pick<Pod, 'namespace'>) => [namespace],
  [LABELS]: ({ namespace, labels }: Pick<Pod, 'namespace' | 'labels'>) =>
    Object.entries(labels).map(([key, value]) => labelIndexKey(namespace, key, value)),
};

/** An informer of pods with {@link POD_INDEXES}. */
export interface IndexedPods<T> {
  findBy(index: keyof typeof POD_INDEXES, indexKey: string): readonly T[];
}

/** The fields of a pod that selections need. */
type SelectablePod = Pick<Pod, 'name' | 'labels'> & Partial<Pick<Pod, 'omitted'>>;

/** A namespace has a pod whose labels are not cached: nothing is certain about what selects it. */
export class SelectionError extends Error {}

/**
 * The pods of a namespace that match a selector; evaluates only {@link selectablePods}.
 *
 * @throws {SelectionError} as {@link selectablePods}
 */
export function selectPods<T extends SelectablePod>(
  pods: IndexedPods<T>,
  namespace: string,
  selector: LabelSelector,
): readonly T[] {
  return selectablePods(pods, namespace, selector).filter(({ labels }) => selector.matches(labels));
}

/**
 * The pods of a namespace that have one of the labels of a selector; all, if it requires no single value of a label.
 *
 * @throws {SelectionError} where the labels of a pod of the namespace are not cached: it may be one of the selected pods,
 * and without it a workload would count as smaller than it is
 */
export function selectablePods<T extends SelectablePod>(
  pods: IndexedPods<T>,
  namespace: string,
  selector: LabelSelector,
): readonly T[] {
  const [pod] = pods.findBy(OMITTED, namespace);
  if (pod?.omitted !== undefined)
    throw new SelectionError(
      `Cannot select pods of namespace ${namespace}: pod ${pod.name} has ${pod.omitted}`,
    );
  const equality = equalityOf(selector);
  return equality
    ? pods.findBy(LABELS, labelIndexKey(namespace, equality.key, equality.value))
    : pods.findBy(NAMESPACE, namespace);
}

/** Index key of a label in a namespace. */
function labelIndexKey(namespace: string, key: string, value: string): string {
  return `${namespace}\n${key}=${value}`;
}

/** A pod of a scaled workload, reduced to the fields that decisions need. */
export interface ScaledPod {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly phase: string;
  /** Has a deletionTimestamp. */
  readonly isDeleting: boolean;
  /** `status.startTime`; `undefined` before a kubelet has accepted the pod. */
  readonly startedAtMs: number | undefined;
  /** The condition Ready; `undefined` where the pod has none. */
  readonly ready: { readonly status: string; readonly changedAtMs: number } | undefined;
  readonly containers: readonly ContainerRequests[];
  readonly initContainers: readonly InitContainerRequests[];
  /** `spec.resources.requests`: requests of the pod as a whole. */
  readonly podRequests: Requests;
  readonly overhead: Requests;
}

/** Quantities by resource; an absent resource has no request, which differs from `0`. */
export type Requests = Readonly<Record<string, string>>;

export interface ContainerRequests {
  readonly name: string;
  readonly requests: Requests;
}

interface InitContainerRequests extends ContainerRequests {
  /** Has the restart policy Always and so runs beside the containers. */
  readonly isSidecar: boolean;
}

/** Reduces a pod of the API server. @throws an Error with the name of the field that has the wrong type */
export function scaledPod(value: unknown): ScaledPod {
  const pod = recordIn(value, 'the object');
  const { name, labels, isDeleting } = readMetadata(pod);
  const { phase, startedAtMs, ready } = readStatus(pod);
  return { name, labels, phase, isDeleting, startedAtMs, ready, ...readRequests(pod) };
}

// By hand, since all pods of the cluster pass here; spec/kubernetes/objects/pod.spec.ts compares it with a schema. As in Go,
// a field that is null counts as absent.

type Fields = Readonly<Record<string, unknown>>;

const NOTHING: Readonly<Record<string, string>> = {};
const NO_FIELDS: Fields = {};
const NONE: readonly never[] = [];
const NO_REQUESTS = { containers: NONE, initContainers: NONE, podRequests: NOTHING, overhead: NOTHING };

function readMetadata(pod: Fields) {
  const metadata = recordIn(pod.metadata, 'metadata');
  const { name, labels, deletionTimestamp, namespace, uid } = metadata;
  if (typeof name !== 'string' || name === '') throw new Error('Cannot read a pod: it has no name');
  return {
    ...{ name, namespace, uid },
    labels: textsIn(labels, 'metadata.labels'),
    isDeleting: textIn(deletionTimestamp, 'metadata.deletionTimestamp') !== '',
  };
}

function readStatus(pod: Fields) {
  const status = optionalRecordIn(pod.status, 'status');
  const startTime = textIn(status.startTime, 'status.startTime');
  return {
    phase: textIn(status.phase, 'status.phase'),
    podIp: status.podIP,
    startedAtMs: startTime === '' ? undefined : Date.parse(startTime),
    ready: readReady(listIn(status.conditions, 'status.conditions')),
  };
}

function readReady(conditions: readonly unknown[]): ScaledPod['ready'] {
  let ready: ScaledPod['ready'];
  for (const one of conditions) {
    const { type, status, lastTransitionTime } = recordIn(one, 'status.conditions[]');
    if (typeof type !== 'string') throw wrong('status.conditions[].type', 'a string');
    if (type !== 'Ready' || ready) continue;
    if (typeof status !== 'string') throw wrong('status of condition Ready', 'a string');
    const changedAt = textIn(lastTransitionTime, 'lastTransitionTime of condition Ready');
    // A time that was never set is Go's zero time, which precedes everything.
    ready = { status, changedAtMs: changedAt === '' ? Number.NEGATIVE_INFINITY : Date.parse(changedAt) };
  }
  return ready;
}

function readRequests(pod: Fields) {
  const spec = recordIn(pod.spec, 'spec');
  const containers = listIn(spec.containers, 'spec.containers');
  const initContainers = listIn(spec.initContainers, 'spec.initContainers');
  return {
    containers: containers.length === 0 ? NONE : containers.map((one) => readContainer(one)),
    initContainers: initContainers.length === 0 ? NONE : initContainers.map(readInitContainer),
    podRequests: requestsIn(spec.resources, 'spec.resources'),
    overhead: textsIn(spec.overhead, 'spec.overhead'),
  };
}

const OMITTED_TEXT = `labels and requests of more than ${MAX_LABELS_BYTES / 1024} KiB`;

function sizeOfRequests({
  containers,
  initContainers,
  podRequests,
  overhead,
}: ReturnType<typeof readRequests>): number {
  let bytes = sizeOfTexts(podRequests) + sizeOfTexts(overhead);
  for (const one of containers) bytes += sizeOfContainer(one);
  for (const one of initContainers) bytes += sizeOfContainer(one);
  return bytes;
}

function sizeOfContainer({ name, requests }: ContainerRequests): number {
  return name.length + 2 * TEXT_BYTES + sizeOfTexts(requests);
}

/** Paths in messages. */
const CONTAINER = 'spec.containers[]';
const INIT_CONTAINER = 'spec.initContainers[]';

function readContainer(value: unknown, path = CONTAINER): ContainerRequests {
  const { name, resources } = recordIn(value, path);
  if (typeof name !== 'string') throw wrong(`${path}.name`, 'a string');
  return { name, requests: requestsIn(resources, `${path}.resources`) };
}

function readInitContainer(value: unknown): InitContainerRequests {
  const { name, requests } = readContainer(value, INIT_CONTAINER);
  const restartPolicy = textIn((value as Fields).restartPolicy, `${INIT_CONTAINER}.restartPolicy`);
  return { name, requests, isSidecar: restartPolicy === 'Always' };
}

function requestsIn(resources: unknown, what: string): Requests {
  return textsIn(optionalRecordIn(resources, what).requests, `${what}.requests`);
}

function textIn(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  throw wrong(what, 'a string');
}

function textsIn(value: unknown, what: string): Readonly<Record<string, string>> {
  const texts = optionalRecordIn(value, what);
  for (const key in texts) if (typeof texts[key] !== 'string') throw wrong(`a value of ${what}`, 'a string');
  return texts as Readonly<Record<string, string>>;
}

function listIn(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (value === undefined || value === null) return NONE;
  throw wrong(what, 'a list');
}

function optionalRecordIn(value: unknown, what: string): Fields {
  return value === undefined || value === null ? NO_FIELDS : recordIn(value, what);
}

function recordIn(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(what, 'an object');
  return value as Fields;
}

function wrong(what: string, expected: string): Error {
  return new Error(`Cannot read a pod: ${what} is not ${expected}`);
}
