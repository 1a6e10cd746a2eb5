import { Interner, stringInterner } from '#lib/cache/interner.ts';
import { propertyOf } from '#lib/kubernetes/object-metadata.ts';
import type { LivePod } from './live-pods.ts';

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
