import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { type Clock, systemClock } from '#lib/time/clock.ts';

/** Series too numerous to format without blocking the event loop; formatted in slices. */
export interface SlicedSeries {
  /** Text exposition in whole lines; the registry yields to the event loop between slices. A slice may be empty. */
  slices(): Iterable<string>;
}

/** Slices that together take less share a turn of the event loop. */
const SLICE_MS = 2;

/** A registry with sliced series. prom-client formats 5,000 histograms in one block of a quarter of a second. */
export class SlicedRegistry extends Registry {
  readonly #sliced: SlicedSeries[] = [];
  readonly #clock: Pick<Clock, 'monotonicMs'>;

  constructor(clock: Pick<Clock, 'monotonicMs'> = systemClock) {
    super();
    this.#clock = clock;
  }

  add(series: SlicedSeries): void {
    this.#sliced.push(series);
  }

  override async metrics(): Promise<string> {
    const parts = [await super.metrics()];
    let startMs = this.#clock.monotonicMs();
    for (const series of this.#sliced) {
      for (const slice of series.slices()) {
        if (slice !== '') parts.push(slice);
        if (this.#clock.monotonicMs() - startMs < SLICE_MS) continue;
        await yieldToEventLoop();
        startMs = this.#clock.monotonicMs();
      }
    }
    return parts.join('');
  }
}

interface ExponentialHistogramOptions {
  readonly name: string;
  readonly help: string;
  /** First upper bound. */
  readonly start: number;
  /** Ratio of consecutive bounds. */
  readonly factor: number;
  readonly buckets: number;
}

/**
 * A histogram with exponential bounds: the bucket is computed, not searched, which suits very frequent observations.
 */
export class ExponentialHistogram implements SlicedSeries {
  readonly #options: ExponentialHistogramOptions;
  /** Not cumulative; the last count is that above all bounds. */
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

  /** @param count number of observations of this value */
  observe(value: number, count = 1): void {
    const { start, factor, buckets } = this.#options;
    const computed = value <= start ? 0 : Math.ceil(Math.log(value / start) / Math.log(factor));
    let index = Math.min(computed, buckets);
    // Rounding of the logarithm can be off by one bucket.
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

interface LabelledHistogramsOptions {
  readonly name: string;
  readonly help: string;
  /** One or several label names. */
  readonly label: string | readonly string[];
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
}

interface Histogram {
  /** Not cumulative; the last count is that above all bounds. */
  readonly counts: Uint32Array;
  sum: number;
  /** Formatted as in the exposition. */
  readonly label: string;
}

const HISTOGRAMS_PER_SLICE = 200;

/** One histogram per value of a label, for thousands of values. */
export class LabelledHistograms implements SlicedSeries {
  readonly #options: LabelledHistogramsOptions;
  readonly #bounds: readonly string[];
  readonly #histograms = new Map<string, Histogram>();

  constructor(options: LabelledHistogramsOptions) {
    this.#options = options;
    this.#bounds = [...options.buckets.map(String), '+Inf'];
  }

  /** @param labelValue one value per label name, in the order of the names */
  observe(labelValue: string | readonly string[], value: number): void {
    const key = typeof labelValue === 'string' ? labelValue : labelValue.join('\n');
    const histogram = this.#histograms.get(key) ?? this.#begin(key, labelValue);
    const bucket = this.#options.buckets.findIndex((bound) => value <= bound);
    const index = bucket === -1 ? this.#options.buckets.length : bucket;
    histogram.counts[index] = (histogram.counts[index] ?? 0) + 1;
    histogram.sum += value;
  }

  /** Removes histograms whose label value is no longer live. */
  retain(isLive: (labelValue: string) => boolean): void {
    for (const labelValue of this.#histograms.keys()) {
      if (!isLive(labelValue)) this.#histograms.delete(labelValue);
    }
  }

  *slices(): Iterable<string> {
    const { name, help } = this.#options;
    let slice = `# HELP ${name} ${help}\n# TYPE ${name} histogram\n`;
    let written = 0;
    for (const histogram of this.#histograms.values()) {
      slice += this.#write(histogram);
      if (++written % HISTOGRAMS_PER_SLICE !== 0) continue;
      yield slice;
      slice = '';
    }
    yield slice;
  }

  #begin(key: string, labelValue: string | readonly string[]): Histogram {
    const values = [labelValue].flat();
    const label = [this.#options.label]
      .flat()
      .map((name, index) => `${name}="${escapeLabelValue(values[index] ?? '')}"`)
      .join(',');
    const histogram = { counts: new Uint32Array(this.#bounds.length), sum: 0, label };
    this.#histograms.set(key, histogram);
    return histogram;
  }

  #write({ counts, sum, label }: Histogram): string {
    const { name } = this.#options;
    let lines = '';
    let count = 0;
    for (const [index, bound] of this.#bounds.entries()) {
      count += counts[index] ?? 0;
      lines += `${name}_bucket{${label},le="${bound}"} ${count}\n`;
    }
    return `${lines}${name}_sum{${label}} ${sum}\n${name}_count{${label}} ${count}\n`;
  }
}

/** Names of Kubernetes objects have at most 253 characters; texts of users may have a megabyte. */
export const MAX_LABEL_LENGTH = 256;

/** Formats a label value; a longer one than {@link MAX_LABEL_LENGTH} ends in `…`. */
export function escapeLabelValue(value: string): string {
  const text =
    value.length > MAX_LABEL_LENGTH ? `${value.slice(0, MAX_LABEL_LENGTH - 1).toWellFormed()}…` : value;
  return text.replace(/[\\"\n]/g, (special) => (special === '\n' ? '\\n' : `\\${special}`));
}
