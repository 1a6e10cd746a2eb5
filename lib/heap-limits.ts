import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Has V8 leave its space for new objects as large as it is. What a response leaves behind dies young, so a larger one would
 * be filled, and held, to no use: up to 128 MB of it in a cluster of 1,000 nodes.
 */
export function limitYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * Has that space grow to what V8 thinks fit, after all: thousands of objects that are worked on side by side outlive two
 * collections of a small one, each of which takes as long as one of a large one.
 */
export function growYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
}

/**
 * Has that space grow to so many bytes and no further: what hundreds of requests under way hold outlives a small one, and old
 * garbage is collected for many times the cost, while a space larger than the processor's cache is filled more slowly.
 */
export function growYoungGenerationTo(bytes: number): void {
  growYoungGeneration();
  // V8 looks at the factor after each collection, and makes the space smaller again when little is allocated.
  new PerformanceObserver(() =>
    youngBytes() < bytes ? growYoungGeneration() : limitYoungGeneration(),
  ).observe({
    entryTypes: ['gc'],
  });
}

/** What a cluster's scrapes leave in that space while one of its collections would cost as much as it saves. */
const BYTES_PER_NODE = 16 * 1024;

/** Below the least it is left as it is; beyond the most a thirtieth of the CPU is saved, and 30 to 60 MB more are held. */
const [LEAST_BYTES, MOST_BYTES] = [4 * 2 ** 20, 16 * 2 ** 20];

/**
 * Has that space fit the number of nodes: a collection costs half a millisecond for a thousand connections, however little there
 * is to be kept, and 1 MB is full twenty times a second while as many nodes are scraped.
 */
export class FittingYoungGeneration {
  #growing: PerformanceObserver | undefined;

  /** To be called now and then: V8 makes the space smaller when little is allocated. */
  fit(nodes: number): void {
    const bytes = Math.min(nodes * BYTES_PER_NODE, MOST_BYTES);
    if (this.#growing || bytes < LEAST_BYTES || youngBytes() >= bytes) return;
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
 * Has V8 collect garbage when the heap has grown by 30 % since it last did, in place of up to four times: what informers hold lives
 * long, and what arrives, thousands of objects at a start, leaves several times as much behind.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=30');
}
