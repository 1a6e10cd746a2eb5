import { Interner, stringInterner } from '#lib/cache/interner.ts';
import { Informer, type InformerOptions } from '#lib/kubernetes/informer/informer.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';

/** What a pod cache works with. */
type PodCacheOptions = Pick<InformerOptions<LivePod>, 'client' | 'clock' | 'logger'>;

/** Follows the cluster's running pods by their metadata alone. */
export class PodCache extends Informer<LivePod> implements LivePods {
  constructor({ client, clock, logger }: PodCacheOptions) {
    const reducer = new PodReducer();
    const collection = { path: '/api/v1/pods', fieldSelector: 'status.phase=Running', metadataOnly: true };
    super({ client, clock, logger, collection, transform: (pod) => reducer.reduce(pod) });
  }
}

/** What this program keeps of a running Pod; the same object for as long as none of it changes. */
export interface LivePod {
  readonly namespace: string;
  readonly name: string;
  /**
   * The UID by which its kubelet knows it: of a static pod the hash of its manifest, which is not the UID of the mirror pod
   * that stands for it in the API.
   */
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The running pods that the API server knows, kept current by a metadata-only watch. */
export interface LivePods {
  /** Whether the first list has been read completely. */
  readonly isSynced: boolean;
  /** Another number whenever something of it has changed. */
  readonly revision: number;
  get(namespace: string, name: string): LivePod | undefined;
  /** @param key `NAMESPACE/NAME`; a lookup by it is quicker */
  find(key: string): LivePod | undefined;
  values(): Iterable<LivePod>;
}

type Labels = LivePod['labels'];

/** As many workloads, and as many namespaces, as have their labels and names held once. */
const SHARED_VALUES = { capacity: 10_000, longestKey: 4096 };

/** A mirror pod says by this under which UID its kubelet runs the static pod (k8s.io/kubernetes/pkg/kubelet/pod). */
const MIRRORED_UID = 'kubernetes.io/config.mirror';

const NO_LABELS: Labels = Object.freeze({});

/**
 * Keeps of Pod objects what this program uses. The pods of one workload have equal labels, and those of one namespace
 * its name: equal ones are the same object, which saves a quarter of what a pod takes.
 */
export class PodReducer {
  readonly #labels = new Interner<Labels>(SHARED_VALUES, (texts) => Object.fromEntries(JSON.parse(texts)));
  readonly #namespaces = stringInterner(SHARED_VALUES);

  /** What is malformed counts as absent; `undefined` without namespace, name and UID. */
  reduce(pod: unknown): LivePod | undefined {
    const metadata = propertyOf(pod, 'metadata');
    const namespace = propertyOf(metadata, 'namespace');
    const name = propertyOf(metadata, 'name');
    const uid = propertyOf(propertyOf(metadata, 'annotations'), MIRRORED_UID) ?? propertyOf(metadata, 'uid');
    if (typeof namespace !== 'string' || typeof name !== 'string' || typeof uid !== 'string')
      return undefined;
    return {
      namespace: this.#namespaces.intern(namespace),
      name,
      uid,
      labels: this.#sharedLabels(propertyOf(metadata, 'labels')),
    };
  }

  #sharedLabels(labels: unknown): Labels {
    if (typeof labels !== 'object' || labels === null) return NO_LABELS;
    const texts = Object.entries(labels).filter(([, value]) => typeof value === 'string');
    if (texts.length === 0) return NO_LABELS;
    return this.#labels.intern(JSON.stringify(texts));
  }
}
