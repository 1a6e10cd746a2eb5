import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { ScaledPod } from './objects/scaled-pod.ts';

/** An HPA by what its target selects. */
export interface SelectingHpa {
  readonly name: string;
  readonly namespace: string;
  readonly selector: LabelSelector;
}

/**
 * Names the other HPAs that scale one of these pods, as `namespace/name`.
 *
 * @param others HPAs of the pods' namespace, without the one that is asked for
 */
export function rivalsOf(pods: readonly ScaledPod[], others: Iterable<SelectingHpa>): readonly string[] {
  const rivals: string[] = [];
  for (const { name, namespace, selector } of others) {
    if (pods.some(({ labels }) => selector.matches(labels))) rivals.push(`${namespace}/${name}`);
  }
  return rivals;
}
