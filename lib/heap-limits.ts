import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Stops V8 from growing the young generation. A larger one only retains short-lived garbage of responses, up to 128
 * MB in a cluster of 1,000 nodes.
 */
export function limitYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Restores V8's default growth of the young generation. */
function growYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
}

/**
 * Lets the young generation grow to a size and no further. What hundreds of pending requests retain outlives a small
 * one, and collecting it from the old generation costs many times more; one larger than the CPU cache is slower to
 * fill.
 */
export function growYoungGenerationTo(bytes: number): void {
  growYoungGeneration();
  // V8 evaluates the factor after each collection, and shrinks the young generation when few objects are allocated.
  new PerformanceObserver(() =>
    youngBytes() < bytes ? growYoungGeneration() : limitYoungGeneration(),
  ).observe({
    entryTypes: ['gc'],
  });
}

/**
 * Has V8 collect the young generation in one thread. Where few objects survive, its threads spend more CPU time on
 * sharing them than on copying them, and each leaves pages of its own half empty.
 */
export function collectYoungGenerationInOneThread(): void {
  setFlagsFromString('--no-parallel-scavenge');
}

/** Garbage of one scrape. */
const BYTES_PER_NODE = 16 * 1024;

/** Below the minimum, the size is not changed. Above the maximum, 3 % of CPU time would cost another 30 to 60 MB. */
const [MIN_YOUNG_BYTES, MAX_YOUNG_BYTES] = [4 * 2 ** 20, 16 * 2 ** 20];

/**
 * Sizes the young generation by the number of nodes. A collection costs 0.5 ms per 1,000 connections, however little
 * survives it, and scraping as many nodes fills 1 MB twenty times a second.
 */
export class FittingYoungGeneration {
  #growing: PerformanceObserver | undefined;

  /** Call it regularly: V8 shrinks the young generation when few objects are allocated. */
  fit(nodes: number): void {
    const bytes = Math.min(nodes * BYTES_PER_NODE, MAX_YOUNG_BYTES);
    if (this.#growing || bytes < MIN_YOUNG_BYTES || youngBytes() >= bytes) return;
    growYoungGeneration();
    this.#growing = new PerformanceObserver(() => {
      if (youngBytes() < bytes) return;
      limitYoungGeneration();
      this.#growing?.disconnect();
      this.#growing = undefined;
    });
    this.#growing.observe({ entryTypes: ['gc'] });
  }
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
}

/**
 * Has V8 collect garbage when the heap has grown by 30 % since the last collection, instead of up to fourfold.
 * Informers retain their objects, and an initial list of thousands leaves several times as much garbage.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=30');
}
