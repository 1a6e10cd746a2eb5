import { TokenBucket, type TokenBucketOptions } from './token-bucket.ts';

/** Fewer are not searched for those that are full. */
const MIN_SWEPT = 64;

/** Token buckets of the same limit by name, such as one for each namespace. A full one is dropped: it is the same as a new one. */
export class TokenBuckets {
  readonly #options: TokenBucketOptions;
  readonly #buckets = new Map<string, TokenBucket>();
  #sweepAt = MIN_SWEPT;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
  }

  /** How many are not known to be full. */
  get size(): number {
    return this.#buckets.size;
  }

  /** The bucket of a name, for one use: it is looked up again for the next. */
  get(name: string): TokenBucket {
    const known = this.#buckets.get(name);
    if (known) return known;
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
