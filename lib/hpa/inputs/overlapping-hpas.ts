import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import {
  equalityOf,
  type LabelRequirement,
  type LabelSelector,
  satisfies,
} from '#lib/kubernetes/selectors/label-selector.ts';

interface SelectingHpa {
  readonly name: string;
  readonly namespace: string;
  readonly selector: LabelSelector;
}

/**
 * Finds the other HPAs whose targets select one of these pods, as `namespace/name`.
 *
 * @param others HPAs of the pods' namespace, without this one
 * @param values label values of these pods, if already computed
 */
export function findOverlappingHpas(
  pods: readonly ScaledPod[],
  others: Iterable<SelectingHpa>,
  values = new LabelValues(pods),
): readonly string[] {
  const overlapping: string[] = [];
  for (const { name, namespace, selector } of others) {
    // Thousands of pods have few values: most selectors fail on these.
    if (!selector.requirements.every((requirement) => values.canSatisfy(requirement))) continue;
    if (pods.some(({ labels }) => selector.matches(labels))) overlapping.push(`${namespace}/${name}`);
  }
  return overlapping;
}

interface LabelOfPods {
  readonly values: Set<string>;
  podCount: number;
}

/** The label values of pods. */
class LabelValues {
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

  /** Whether a label value satisfies a requirement. */
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

interface Registered extends SelectingHpa {
  readonly word: string;
}

/** The index of selectors that require no single label value. */
const ANY = '';

/** Indexes HPAs by the selectors of their scales, to find HPAs that scale the same pods. */
export class SelectorRegistry {
  readonly #byKey = new Map<string, Registered>();
  /** HPA keys by namespace and a label that all their pods have. */
  readonly #byWord = new Map<string, Set<string>>();

  /** @param key `namespace/name` of the HPA */
  set(key: string, hpa: SelectingHpa): void {
    const indexed = this.#byKey.get(key);
    if (indexed?.selector.toString() === hpa.selector.toString()) return;
    this.delete(key);
    const equality = equalityOf(hpa.selector);
    const word = describeResult(hpa.namespace, equality ? `${equality.key}=${equality.value}` : ANY);
    this.#byKey.set(key, { ...hpa, word });
    const keys = this.#byWord.get(word) ?? new Set();
    this.#byWord.set(word, keys.add(key));
  }

  delete(key: string): void {
    const indexed = this.#byKey.get(key);
    if (!indexed) return;
    this.#byKey.delete(key);
    const keys = this.#byWord.get(indexed.word);
    if (keys?.delete(key) && keys.size === 0) this.#byWord.delete(indexed.word);
  }

  /** The other HPAs that select one of these pods, as `namespace/name`. */
  findOverlappingHpas(key: string, namespace: string, pods: readonly ScaledPod[]): readonly string[] {
    const words = new Set([describeResult(namespace, ANY)]);
    const values = new LabelValues(pods);
    for (const [label, value] of values.entries()) words.add(describeResult(namespace, `${label}=${value}`));
    const others: SelectingHpa[] = [];
    for (const word of words) {
      for (const other of this.#byWord.get(word) ?? []) {
        const hpa = other === key ? undefined : this.#byKey.get(other);
        if (hpa) others.push(hpa);
      }
    }
    return findOverlappingHpas(pods, others, values);
  }
}

function describeResult(namespace: string, label: string): string {
  return `${namespace}\n${label}`;
}
