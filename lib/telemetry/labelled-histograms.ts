import type { SlicedSeries } from './sliced-registry.ts';

/** How the series are called and what they count by. */
export interface LabelledHistogramsOptions {
  readonly name: string;
  readonly help: string;
  /** The one label that tells the histograms apart. */
  readonly label: string;
  /** Upper bounds, rising. */
  readonly buckets: readonly number[];
}

interface Histogram {
  /** Observations by bucket, those above the last bound behind them; not cumulative. */
  readonly counts: Uint32Array;
  sum: number;
  /** The label as it stands in a line. */
  readonly label: string;
}

const HISTOGRAMS_A_SLICE = 200;

/** One histogram for each value of a label, of which there may be thousands. */
export class LabelledHistograms implements SlicedSeries {
  readonly #options: LabelledHistogramsOptions;
  readonly #bounds: readonly string[];
  readonly #histograms = new Map<string, Histogram>();

  constructor(options: LabelledHistogramsOptions) {
    this.#options = options;
    this.#bounds = [...options.buckets.map(String), '+Inf'];
  }

  observe(labelValue: string, value: number): void {
    const histogram = this.#histograms.get(labelValue) ?? this.#begin(labelValue);
    const bucket = this.#options.buckets.findIndex((bound) => value <= bound);
    const index = bucket === -1 ? this.#options.buckets.length : bucket;
    histogram.counts[index] = (histogram.counts[index] ?? 0) + 1;
    histogram.sum += value;
  }

  /** Drops the histograms of values that are gone. */
  retain(isLive: (labelValue: string) => boolean): void {
    for (const labelValue of this.#histograms.keys()) {
      if (!isLive(labelValue)) this.#histograms.delete(labelValue);
    }
  }

  *slices(): Iterable<string> {
    const { name, help } = this.#options;
    let slice = `# HELP ${name} ${help}\n# TYPE ${name} histogram\n`;
    let held = 0;
    for (const histogram of this.#histograms.values()) {
      slice += this.#write(histogram);
      if (++held % HISTOGRAMS_A_SLICE !== 0) continue;
      yield slice;
      slice = '';
    }
    yield slice;
  }

  #begin(labelValue: string): Histogram {
    const label = `${this.#options.label}="${escapeLabelValue(labelValue)}"`;
    const histogram = { counts: new Uint32Array(this.#bounds.length), sum: 0, label };
    this.#histograms.set(labelValue, histogram);
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

/** A label value as the text format has it. */
export function escapeLabelValue(value: string): string {
  return value.replace(/[\\"\n]/g, (special) => (special === '\n' ? '\\n' : `\\${special}`));
}
