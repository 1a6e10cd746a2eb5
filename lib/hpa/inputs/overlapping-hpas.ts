import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import {
  equalityOf,
  type LabelRequirement,
  type LabelSelector,
  satisfies,
} from '#lib/kubernetes/selectors/label-selector.ts';

/** An HPA by what its target selects. */
interface SelectingHpa {
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

interface Registered extends SelectingHpa {
  readonly word: string;
}

/** Under which selectors without a label of one value are found. */
const ANY = '';

/** Knows which pods HPAs select, by the scales that were read: so two that scale the same pods are found. */
export class SelectorRegistry {
  readonly #byKey = new Map<string, Registered>();
  /** Keys of HPAs by namespace and a label that all their pods have. */
  readonly #byWord = new Map<string, Set<string>>();

  /** @param key `namespace/name` of the HPA */
  set(key: string, hpa: SelectingHpa): void {
    const known = this.#byKey.get(key);
    if (known?.selector.toString() === hpa.selector.toString()) return;
    this.delete(key);
    const equality = equalityOf(hpa.selector);
    const word = wordOf(hpa.namespace, equality ? `${equality.key}=${equality.value}` : ANY);
    this.#byKey.set(key, { ...hpa, word });
    const keys = this.#byWord.get(word) ?? new Set();
    this.#byWord.set(word, keys.add(key));
  }

  delete(key: string): void {
    const known = this.#byKey.get(key);
    if (!known) return;
    this.#byKey.delete(key);
    const keys = this.#byWord.get(known.word);
    if (keys?.delete(key) && keys.size === 0) this.#byWord.delete(known.word);
  }

  /** The other HPAs that select one of these pods, as `namespace/name`. */
  rivalsOf(key: string, namespace: string, pods: readonly ScaledPod[]): readonly string[] {
    const words = new Set([wordOf(namespace, ANY)]);
    const values = new LabelValues(pods);
    for (const [label, value] of values.entries()) words.add(wordOf(namespace, `${label}=${value}`));
    const others: SelectingHpa[] = [];
    for (const word of words) {
      for (const other of this.#byWord.get(word) ?? []) {
        const hpa = other === key ? undefined : this.#byKey.get(other);
        if (hpa) others.push(hpa);
      }
    }
    return rivalsOf(pods, others, values);
  }
}

function wordOf(namespace: string, label: string): string {
  return `${namespace}\n${label}`;
}
