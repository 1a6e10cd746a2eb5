import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Registry } from 'prom-client';

/** Series that are written a slice at a time, for they are too many to be written in one go. */
export interface SlicedSeries {
  /** Text exposition of whole lines; the event loop goes on between two slices. */
  slices(): Iterable<string>;
}

/**
 * A registry that also serves series which would otherwise hold up everything else: prom-client writes 5,000
 * histograms in one go of a quarter of a second.
 */
export class SlicedRegistry extends Registry {
  readonly #sliced: SlicedSeries[] = [];

  add(series: SlicedSeries): void {
    this.#sliced.push(series);
  }

  override async metrics(): Promise<string> {
    const parts = [await super.metrics()];
    for (const series of this.#sliced) {
      for (const slice of series.slices()) {
        parts.push(slice);
        await yieldToEventLoop();
      }
    }
    return parts.join('');
  }
}
