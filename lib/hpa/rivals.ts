import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import {
  type LabelRequirement,
  type LabelSelector,
  satisfies,
} from '#lib/kubernetes/selectors/label-selector.ts';

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
 * @param values of the labels of these pods, where they are known already
 */
export function rivalsOf(
  pods: readonly ScaledPod[],
  others: Iterable<SelectingHpa>,
  values = new LabelValues(pods),
): readonly string[] {
  const rivals: string[] = [];
  for (const { name, namespace, selector } of others) {
    // Thousands of pods differ by few values: most selectors are told from these.
    if (!selector.requirements.every((requirement) => values.canSatisfy(requirement))) continue;
    if (pods.some(({ labels }) => selector.matches(labels))) rivals.push(`${namespace}/${name}`);
  }
  return rivals;
}

interface LabelOfPods {
  readonly values: Set<string>;
  podCount: number;
}

/** The values that the labels of some pods have. */
export class LabelValues {
  readonly #labels = new Map<string, LabelOfPods>();
  readonly #podCount: number;

  constructor(pods: readonly ScaledPod[]) {
    this.#podCount = pods.length;
    for (const { labels } of pods) {
      for (const [key, value] of Object.entries(labels)) {
        const label = this.#labels.get(key) ?? { values: new Set(), podCount: 0 };
        if (label.podCount === 0) this.#labels.set(key, label);
        label.values.add(value);
        label.podCount++;
      }
    }
  }

  /** Each label with each of its values, once. */
  *entries(): Generator<readonly [key: string, value: string]> {
    for (const [key, { values }] of this.#labels) for (const value of values) yield [key, value];
  }

  /** Whether one of the pods satisfies a requirement. */
  canSatisfy(requirement: LabelRequirement): boolean {
    const { key, operator, values } = requirement;
    const label = this.#labels.get(key);
    if ((label?.podCount ?? 0) < this.#podCount && satisfies({}, requirement)) return true;
    if (!label) return false;
    const isEquality = operator === '=' || operator === '==' || operator === 'in';
    if (isEquality && values.length <= label.values.size)
      return values.some((value) => label.values.has(value));
    for (const value of label.values) if (satisfies({ [key]: value }, requirement)) return true;
    return false;
  }
}
