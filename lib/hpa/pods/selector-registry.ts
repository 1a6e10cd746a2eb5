import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import { equalityOf } from '#lib/kubernetes/selectors/label-selector.ts';
import { LabelValues, rivalsOf, type SelectingHpa } from '../rivals.ts';

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
