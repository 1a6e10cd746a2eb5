import type { SlicedSeries } from './sliced-registry.ts';

/** How the series are called and what they count by. */
export interface LabelledHistogramsOptions {
  readonly name: string;
  readonly help: string;
  /** The label that tells the histograms apart, or several of them. */
  readonly label: string | readonly string[];
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

  /** @param labelValue that of the label; of several, their values in their order */
  observe(labelValue: string | readonly string[], value: number): void {
    const key = typeof labelValue === 'string' ? labelValue : labelValue.join('\n');
    const histogram = this.#histograms.get(key) ?? this.#begin(key, labelValue);
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

/** A label value as the text format has it. */
export function escapeLabelValue(value: string): string {
  return value.replace(/[\\"\n]/g, (special) => (special === '\n' ? '\\n' : `\\${special}`));
}
