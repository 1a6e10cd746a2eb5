import type { Steps } from '#lib/concurrency/event-loop.ts';
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
 * Finds the other HPAs whose targets select one of these pods, as `namespace/name`. Each step compares one HPA with one
 * pod, or a requirement of it with the label values of all pods.
 *
 * @param others HPAs of the pods' namespace, without this one
 */
export function* findOverlappingHpas(
  pods: readonly ScaledPod[],
  others: readonly SelectingHpa[],
): Steps<readonly string[]> {
  if (others.length === 0) return [];
  const values = yield* LabelValues.ofPods(pods);
  const overlapping: string[] = [];
  for (const { name, namespace, selector } of others) {
    // Thousands of pods have few values: most selectors fail on these.
    if (!(yield* canSelect(selector, values))) continue;
    if (yield* selectsAny(selector, pods)) overlapping.push(`${namespace}/${name}`);
  }
  return overlapping;
}

function* canSelect({ requirements }: LabelSelector, values: LabelValues): Steps<boolean> {
  yield;
  for (const requirement of requirements) {
    if (!values.canSatisfy(requirement)) return false;
    yield;
  }
  return true;
}

function* selectsAny(selector: LabelSelector, pods: readonly ScaledPod[]): Steps<boolean> {
  for (const { labels } of pods) {
    if (selector.matches(labels)) return true;
    yield;
  }
  return false;
}

interface LabelOfPods {
  readonly values: Set<string>;
  podCount: number;
}

/** The label values of pods. */
class LabelValues {
  readonly #labels = new Map<string, LabelOfPods>();
  readonly #podCount: number;

  private constructor(podCount: number) {
    this.#podCount = podCount;
  }

  /** Counts the labels of one pod in each step. */
  static *ofPods(pods: readonly ScaledPod[]): Steps<LabelValues> {
    const values = new LabelValues(pods.length);
    for (const { labels } of pods) {
      values.#add(labels);
      yield;
    }
    return values;
  }

  #add(labels: ScaledPod['labels']): void {
    for (const [key, value] of Object.entries(labels)) {
      const label = this.#labels.get(key) ?? { values: new Set(), podCount: 0 };
      if (label.podCount === 0) this.#labels.set(key, label);
      label.values.add(value);
      label.podCount++;
    }
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

/** An HPA with the text of its selector, and the label and value that each of its pods has. */
interface Registered extends SelectingHpa {
  readonly text: string;
  readonly label: string;
  readonly value: string;
}

/** The label and value of selectors that require no single value. */
const ANY = { key: '', value: '' };

/** Indexes HPAs by the selectors of their scales, to find HPAs that scale the same pods. */
export class SelectorRegistry {
  readonly #byKey = new Map<string, Registered>();
  /** HPA keys by namespace, and by a label that all their pods have, and its value. */
  readonly #byLabel = new Map<string, Map<string, Map<string, Set<string>>>>();

  /** The selector of an HPA; `undefined` where it was parsed from another text. */
  find(key: string, text: string): LabelSelector | undefined {
    const indexed = this.#byKey.get(key);
    return indexed?.text === text ? indexed.selector : undefined;
  }

  /** @param key `namespace/name` of the HPA */
  set(key: string, hpa: SelectingHpa & { readonly text: string }): void {
    if (this.find(key, hpa.text)) return;
    this.delete(key);
    const { key: label, value } = equalityOf(hpa.selector) ?? ANY;
    this.#byKey.set(key, { ...hpa, label, value });
    const labels = this.#byLabel.get(hpa.namespace) ?? new Map<string, Map<string, Set<string>>>();
    const values = labels.get(label) ?? new Map<string, Set<string>>();
    const keys = values.get(value) ?? new Set<string>();
    this.#byLabel.set(hpa.namespace, labels.set(label, values.set(value, keys.add(key))));
  }

  delete(key: string): void {
    const indexed = this.#byKey.get(key);
    if (!indexed) return;
    this.#byKey.delete(key);
    const { namespace, label, value } = indexed;
    const labels = this.#byLabel.get(namespace);
    const values = labels?.get(label);
    const keys = values?.get(value);
    keys?.delete(key);
    if (keys?.size === 0) values?.delete(value);
    if (values?.size === 0) labels?.delete(label);
    if (labels?.size === 0) this.#byLabel.delete(namespace);
  }

  /** The other HPAs that select one of these pods, as `namespace/name`. */
  *findOverlappingHpas(key: string, namespace: string, pods: readonly ScaledPod[]): Steps<readonly string[]> {
    const labels = this.#byLabel.get(namespace);
    const candidates = new Set([labels?.get(ANY.key)?.get(ANY.value)]);
    for (const pod of pods) {
      for (const label in pod.labels) candidates.add(labels?.get(label)?.get(pod.labels[label] ?? ''));
      yield;
    }
    const others: SelectingHpa[] = [];
    for (const keys of candidates) {
      for (const other of keys ?? []) {
        const hpa = other === key ? undefined : this.#byKey.get(other);
        if (hpa) others.push(hpa);
      }
    }
    return yield* findOverlappingHpas(pods, others);
  }
}
