import type { SlicedSeries } from './sliced-registry.ts';

/** How the series is called and where its buckets end. */
export interface ExponentialHistogramOptions {
  readonly name: string;
  readonly help: string;
  /** The first upper bound. */
  readonly start: number;
  /** What each bound is multiplied by for the next. */
  readonly factor: number;
  readonly buckets: number;
}

/**
 * A histogram whose bounds grow by a factor, so that the bucket of a value is computed and not searched for: made
 * to be told of every object of long lists.
 */
export class ExponentialHistogram implements SlicedSeries {
  readonly #options: ExponentialHistogramOptions;
  /** Observations by bucket, those above the last bound behind them; not cumulative. */
  readonly #counts: Float64Array;
  readonly #bounds: readonly number[];
  #sum = 0;

  constructor(options: ExponentialHistogramOptions) {
    this.#options = options;
    this.#counts = new Float64Array(options.buckets + 1);
    const bounds = [options.start];
    while (bounds.length < options.buckets) bounds.push((bounds.at(-1) ?? 0) * options.factor);
    this.#bounds = bounds;
  }

  /** @param count of how many observations this is the value */
  observe(value: number, count = 1): void {
    const { start, factor, buckets } = this.#options;
    const computed = value <= start ? 0 : Math.ceil(Math.log(value / start) / Math.log(factor));
    let index = Math.min(computed, buckets);
    // The logarithm may err at a bound by one step either way.
    if (index > 0 && value <= (this.#bounds[index - 1] ?? 0)) index--;
    else if (value > (this.#bounds[index] ?? Number.POSITIVE_INFINITY)) index++;
    this.#counts[index] = (this.#counts[index] ?? 0) + count;
    this.#sum += value * count;
  }

  *slices(): Iterable<string> {
    const { name, help } = this.#options;
    let text = `# HELP ${name} ${help}\n# TYPE ${name} histogram\n`;
    let count = 0;
    for (const [index, bound] of [...this.#bounds, '+Inf'].entries()) {
      count += this.#counts[index] ?? 0;
      text += `${name}_bucket{le="${bound}"} ${count}\n`;
    }
    yield `${text}${name}_sum ${this.#sum}\n${name}_count ${count}\n`;
  }
}
