import { nameOfKey } from '../objects/kubernetes-object.ts';

/** How much an informer caches of each namespace. */
export interface NamespaceBudgetOptions<T> {
  /** Of all objects of one namespace together. */
  readonly maxBytes: number;
  /** Approximate size of an object in memory. */
  readonly sizeBytes: (object: T) => number;
  /** A small replacement that is cached for an object beyond the budget. */
  readonly reduce: (object: T) => T;
}

/** Metrics of all objects of one kind in a namespace; those of HPAs that are collected have a budget of their own. */
export const MAX_NAMESPACE_METRICS = 15_000;
/** A prepared metric with its collector and poll, measured. */
const METRIC_BYTES = 4_700;

/** Counts the metrics of objects; 0 fits in place of those beyond the budget. */
export const METRICS_BUDGET: NamespaceBudgetOptions<number> = {
  maxBytes: MAX_NAMESPACE_METRICS * METRIC_BYTES,
  sizeBytes: (count) => count * METRIC_BYTES,
  reduce: () => 0,
};

/**
 * Bounds the bytes that are cached for each namespace, so that objects of one cannot exhaust the memory of the process.
 */
export class NamespaceBudget<T> {
  readonly #options: NamespaceBudgetOptions<T>;
  readonly #sizes = new Map<string, number>();
  readonly #totals = new Map<string, number>();
  /** By namespace, the whole sizes of reduced objects by key, the first one first. */
  readonly #reduced = new Map<string, Map<string, number>>();
  /** Namespaces that have reduced objects, and since then a smaller total. */
  readonly #shrunk = new Set<string>();

  constructor(options: NamespaceBudgetOptions<T>) {
    this.#options = options;
  }

  /**
   * Counts an object in place of the previous one of its key.
   *
   * @returns the object to cache for it
   */
  fit(key: string, object: T): T {
    const { maxBytes, sizeBytes, reduce } = this.#options;
    const { namespace = '' } = nameOfKey(key);
    const before = this.#totals.get(namespace) ?? 0;
    this.#remove(key, namespace);
    const total = this.#totals.get(namespace) ?? 0;
    const wholeSize = sizeBytes(object);
    const fits = total + wholeSize <= maxBytes;
    const cached = fits ? object : reduce(object);
    if (!fits) this.#addReduced(key, namespace, wholeSize);
    const size = fits ? wholeSize : sizeBytes(cached);
    this.#sizes.set(key, size);
    this.#totals.set(namespace, total + size);
    if (total + size < before) this.#noteShrunk(namespace);
    return cached;
  }

  delete(key: string): void {
    const { namespace = '' } = nameOfKey(key);
    this.#remove(key, namespace);
    this.#noteShrunk(namespace);
  }

  /** The key of a reduced object that fits by now; round robin by namespace, and the first one of its namespace. */
  findFitting(): string | undefined {
    for (const namespace of this.#shrunk) {
      this.#shrunk.delete(namespace);
      const free = this.#options.maxBytes - (this.#totals.get(namespace) ?? 0);
      for (const [key, wholeSize] of this.#reduced.get(namespace) ?? []) {
        if (wholeSize - (this.#sizes.get(key) ?? 0) > free) continue;
        this.#shrunk.add(namespace); // there may be space for more
        return key;
      }
    }
    return undefined;
  }

  /** Leaves an object reduced, until it is fitted again: it cannot be read. */
  leaveReduced(key: string): void {
    this.#removeReduced(key, nameOfKey(key).namespace ?? '');
  }

  #remove(key: string, namespace: string): void {
    const size = this.#sizes.get(key);
    if (size === undefined) return;
    this.#sizes.delete(key);
    this.#removeReduced(key, namespace);
    const left = (this.#totals.get(namespace) ?? 0) - size;
    if (left > 0) this.#totals.set(namespace, left);
    else this.#totals.delete(namespace);
  }

  #addReduced(key: string, namespace: string, wholeSize: number): void {
    const reduced = this.#reduced.get(namespace) ?? new Map<string, number>();
    this.#reduced.set(namespace, reduced.set(key, wholeSize));
  }

  #removeReduced(key: string, namespace: string): void {
    const reduced = this.#reduced.get(namespace);
    if (reduced?.delete(key) && reduced.size === 0) this.#reduced.delete(namespace);
  }

  #noteShrunk(namespace: string): void {
    if (this.#reduced.has(namespace)) this.#shrunk.add(namespace);
  }
}
