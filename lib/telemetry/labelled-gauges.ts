import { escapeLabelValue } from './labelled-histograms.ts';
import type { SlicedSeries } from './sliced-registry.ts';

/** How the series are called and what they count by. */
export interface LabelledGaugesOptions {
  readonly name: string;
  readonly help: string;
  /** The one label that tells the gauges apart. */
  readonly label: string;
}

const GAUGES_A_SLICE = 2000;

/** One gauge for each value of a label, of which there may be thousands. */
export class LabelledGauges implements SlicedSeries {
  readonly #options: LabelledGaugesOptions;
  readonly #values = new Map<string, number>();

  constructor(options: LabelledGaugesOptions) {
    this.#options = options;
  }

  set(labelValue: string, value: number): void {
    this.#values.set(labelValue, value);
  }

  /** Drops the gauges of values that are gone. */
  retain(isLive: (labelValue: string) => boolean): void {
    for (const labelValue of this.#values.keys()) if (!isLive(labelValue)) this.#values.delete(labelValue);
  }

  *slices(): Iterable<string> {
    const { name, help, label } = this.#options;
    let slice = `# HELP ${name} ${help}\n# TYPE ${name} gauge\n`;
    let held = 0;
    for (const [labelValue, value] of this.#values) {
      slice += `${name}{${label}="${escapeLabelValue(labelValue)}"} ${value}\n`;
      if (++held % GAUGES_A_SLICE !== 0) continue;
      yield slice;
      slice = '';
    }
    yield slice;
  }
}
