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

  constructor(options: NamespaceBudgetOptions<T>) {
    this.#options = options;
  }

  /**
   * Counts an object in place of the previous one of its key.
   *
   * @returns the object to cache for it
   */
  fit(key: string, object: T): T {
    this.delete(key);
    const { maxBytes, sizeBytes, reduce } = this.#options;
    const { namespace = '' } = nameOfKey(key);
    const total = this.#totals.get(namespace) ?? 0;
    const fits = total + sizeBytes(object) <= maxBytes;
    const cached = fits ? object : reduce(object);
    const size = sizeBytes(cached);
    this.#sizes.set(key, size);
    this.#totals.set(namespace, total + size);
    return cached;
  }

  delete(key: string): void {
    const size = this.#sizes.get(key);
    if (size === undefined) return;
    this.#sizes.delete(key);
    const { namespace = '' } = nameOfKey(key);
    const left = (this.#totals.get(namespace) ?? 0) - size;
    if (left > 0) this.#totals.set(namespace, left);
    else this.#totals.delete(namespace);
  }
}
