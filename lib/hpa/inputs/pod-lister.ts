import type { Informer } from '#lib/kubernetes/informer/informer.ts';
import { type PodObject, type ScaledPod, scaledPod } from '#lib/kubernetes/objects/pod.ts';
import { equalityOf, type LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';

/** A pod as the informer of all HPAs keeps it. */
export interface FollowedPod extends ScaledPod {
  readonly namespace: string;
}

/** Reduces a pod of the API server to what deciding reads, and where it is. @throws for what is no pod */
export function followedPod(value: unknown): FollowedPod {
  const pod = value as PodObject & { readonly metadata: { readonly namespace?: string } };
  return { ...scaledPod(pod), namespace: pod.metadata.namespace ?? '' };
}

const LABELS = 'labels';
const NAMESPACE = 'namespace';

/** The indexes of the informer: every pod by its namespace, and by that with each of its labels. */
export const POD_INDEXES = {
  [NAMESPACE]: ({ namespace }: FollowedPod) => [namespace],
  [LABELS]: ({ namespace, labels }: FollowedPod) =>
    Object.entries(labels).map(([key, value]) => labelWord(namespace, { key, value })),
};

/** The pods of a namespace that a selector selects; only those with one of its labels are looked at. */
export function selectPods(
  pods: Pick<Informer<FollowedPod>, 'findBy'>,
  namespace: string,
  selector: LabelSelector,
): readonly FollowedPod[] {
  const equality = equalityOf(selector);
  const candidates = equality
    ? pods.findBy(LABELS, labelWord(namespace, equality))
    : pods.findBy(NAMESPACE, namespace);
  return candidates.filter(({ labels }) => selector.matches(labels));
}

function labelWord(
  namespace: string,
  { key, value }: { readonly key: string; readonly value: string },
): string {
  return `${namespace}\n${key}=${value}`;
}
