import { createStringInterner, Interner } from '#lib/cache/interner.ts';
import { Informer, type InformerOptions } from '#lib/kubernetes/informer/informer.ts';
import { logOmitted } from '#lib/kubernetes/informer/log-omitted.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { MAX_LABELS_BYTES, OMITTED_LABELS, sizeOfTexts } from '#lib/kubernetes/objects/text-size.ts';

type PodCacheOptions = Pick<InformerOptions<LivePod>, 'client' | 'clock' | 'logger'>;

const LABELS_OMITTED =
  'Serving the metrics of this pod without its labels, because the labels are too long to cache';

/** An informer of the metadata of running pods. */
export class PodCache extends Informer<LivePod> implements LivePods {
  constructor({ client, clock, logger }: PodCacheOptions) {
    const reducer = new PodReducer();
    const collection = { path: '/api/v1/pods', fieldSelector: 'status.phase=Running', metadataOnly: true };
    super({ client, clock, logger, collection, transform: (pod) => reducer.reduce(pod) });
    logOmitted(this, { clock, logger, kind: 'Pod', message: LABELS_OMITTED });
  }
}

/** The cached part of a running Pod; the same object until a part of it changes. */
export interface LivePod {
  readonly namespace: string;
  readonly name: string;
  /** As reported by the kubelet: for a static pod the hash of its manifest, not the UID of its mirror pod. */
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Why it is served without its labels; absent if it has them. */
  readonly omitted?: string;
}

/** Read access to the cached pods. */
export interface LivePods {
  /** Whether the first list is complete. */
  readonly isSynced: boolean;
  /** Changes with every change of the pods. */
  readonly revision: number;
  get(namespace: string, name: string): LivePod | undefined;
  /** @param key `NAMESPACE/NAME`; faster than {@link get} */
  find(key: string): LivePod | undefined;
  values(): Iterable<LivePod>;
}

type Labels = LivePod['labels'];

/** Number of workloads, and of namespaces, whose labels and names are shared. */
const SHARED_VALUES = { capacity: 10_000, maxKeyLength: 4096 };

/** Annotation of mirror pods with the UID of the static pod (k8s.io/kubernetes/pkg/kubelet/pod). */
const MIRRORED_UID = 'kubernetes.io/config.mirror';

/** A hash has 32 characters. A tenant may write the annotation, too. */
const MAX_UID_LENGTH = 64;

function isUid(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_UID_LENGTH;
}

const NO_LABELS: Labels = Object.freeze({});

/**
 * Selects the cached part of Pods. Equal labels, as of one workload, and equal namespaces are shared objects, which
 * saves a quarter of a pod's memory.
 */
export class PodReducer {
  readonly #labels = new Interner<Labels>(SHARED_VALUES, (texts) => Object.fromEntries(JSON.parse(texts)));
  readonly #namespaces = createStringInterner(SHARED_VALUES);

  /** Malformed labels count as absent. @throws an Error for a pod without namespace, name or UID */
  reduce(pod: unknown): LivePod {
    const metadata = propertyOf(pod, 'metadata');
    const namespace = propertyOf(metadata, 'namespace');
    const name = propertyOf(metadata, 'name');
    const mirrored = propertyOf(propertyOf(metadata, 'annotations'), MIRRORED_UID);
    const uid = isUid(mirrored) ? mirrored : propertyOf(metadata, 'uid');
    if (typeof namespace !== 'string' || typeof name !== 'string' || typeof uid !== 'string')
      throw new Error('Cannot read a pod: it has no namespace, name or UID');
    const labels = this.#sharedLabels(propertyOf(metadata, 'labels'));
    const reduced = { namespace: this.#namespaces.intern(namespace), name, uid, labels: labels ?? NO_LABELS };
    return labels ? reduced : { ...reduced, omitted: OMITTED_LABELS };
  }

  /** @returns `undefined` where they exceed their bound */
  #sharedLabels(labels: unknown): Labels | undefined {
    if (typeof labels !== 'object' || labels === null) return NO_LABELS;
    if (sizeOfTexts(labels as Readonly<Record<string, unknown>>) > MAX_LABELS_BYTES) return undefined;
    const texts = Object.entries(labels).filter(([, value]) => typeof value === 'string');
    if (texts.length === 0) return NO_LABELS;
    return this.#labels.intern(JSON.stringify(texts));
  }
}
