import type { MetricExplanation } from '../decision/decision.ts';

/** Of more metrics of one HPA nothing is kept. */
const MOST_METRICS = 20;

/**
 * How the metrics of one HPA compared with their targets at its latest decisions. Many HPAs are followed, so this is four
 * bytes a metric and decision.
 */
export class LoadHistory {
  /** The metrics, by their names, in the order of the HPA. */
  readonly metrics: readonly string[];
  readonly #places: number;
  readonly #ratios: Float32Array;
  #count = 0;

  constructor(metrics: readonly string[], places: number) {
    this.metrics = metrics;
    this.#places = places;
    this.#ratios = new Float32Array(metrics.length * places);
  }

  /** The history to go on with: that of before, unless the HPA has other metrics now. */
  static after(
    before: LoadHistory | undefined,
    explained: readonly MetricExplanation[],
    places: number,
  ): LoadHistory {
    const names = explained.slice(0, MOST_METRICS).map(({ name }) => name);
    if (before && (names.length === 0 || names.join('\n') === before.metrics.join('\n'))) return before;
    return new LoadHistory(names, places);
  }

  /** Notes one decision; without metrics where they were not looked at. */
  record(explained: readonly MetricExplanation[]): void {
    const offset = (this.#count++ % this.#places) * this.metrics.length;
    for (const place of this.metrics.keys())
      this.#ratios[offset + place] = explained[place]?.proposal?.ratio ?? Number.NaN;
  }

  /** Values over targets of one metric at the latest decisions, the first being the oldest; `undefined` where unknown. */
  ratiosOf(metric: number): readonly (number | undefined)[] {
    const kept = Math.min(this.#count, this.#places);
    return Array.from({ length: kept }, (_, index) => {
      const place = (this.#count - kept + index) % this.#places;
      const ratio = this.#ratios[place * this.metrics.length + metric];
      return ratio === undefined || Number.isNaN(ratio) ? undefined : ratio;
    });
  }

  /** By metric, as JSON tells it. */
  toJSON(): readonly object[] {
    return this.metrics.map((metric, place) => ({
      metric,
      ratios: this.ratiosOf(place).map((ratio) =>
        ratio === undefined ? null : Math.round(ratio * 1e6) / 1e6,
      ),
    }));
  }
}
