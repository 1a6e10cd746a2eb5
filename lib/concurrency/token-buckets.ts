import { TokenBucket, type TokenBucketOptions } from './token-bucket.ts';

/** Minimum number of buckets for a sweep of full ones. */
const MIN_SWEPT = 64;

/**
 * Token buckets with the same limit by name, such as one per namespace. Full buckets are removed; they equal new ones.
 */
export class TokenBuckets {
  readonly #options: TokenBucketOptions;
  readonly #buckets = new Map<string, TokenBucket>();
  #sweepAt = MIN_SWEPT;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
  }

  /** Number of buckets, including full ones that are not removed yet. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Returns the bucket of a name, for a single use: it may be removed when it is full. */
  get(name: string): TokenBucket {
    const existing = this.#buckets.get(name);
    if (existing) return existing;
    if (this.#buckets.size >= this.#sweepAt) this.#sweep();
    const bucket = new TokenBucket(this.#options);
    this.#buckets.set(name, bucket);
    return bucket;
  }

  #sweep(): void {
    for (const [name, bucket] of this.#buckets) if (bucket.isFull) this.#buckets.delete(name);
    this.#sweepAt = Math.max(MIN_SWEPT, 2 * this.#buckets.size);
  }
}
