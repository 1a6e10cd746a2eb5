import { readdir } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ManualClock } from './manual-clock.ts';

/** Resources of a process that must return to their previous numbers. */
export interface OpenResources {
  readonly fileDescriptors: number;
  readonly sockets: number;
  /** On the manual clock. */
  readonly timers: number;
}

/** Counts the resources of this process. */
export async function countResources(clock: ManualClock): Promise<OpenResources> {
  return {
    fileDescriptors: (await readdir('/proc/self/fd')).length,
    sockets: process.getActiveResourcesInfo().filter((type) => type === 'TCPSocketWrap').length,
    timers: clock.sleeperCount,
  };
}

/** The maximum of each resource over some samples, since normal numbers vary. */
export function maxOf(moments: readonly OpenResources[]): OpenResources {
  const max = (what: keyof OpenResources) => Math.max(...moments.map((retained) => retained[what]));
  return { fileDescriptors: max('fileDescriptors'), sockets: max('sockets'), timers: max('timers') };
}

/** Whether no resource exceeds its earlier number. */
export function isWithin(retained: OpenResources, before: OpenResources): boolean {
  return (
    retained.fileDescriptors <= before.fileDescriptors &&
    retained.sockets <= before.sockets &&
    retained.timers <= before.timers
  );
}

setFlagsFromString('--expose-gc');
/** Runs a full garbage collection. */
export const collectGarbage: () => void = runInNewContext('gc');

/** Bytes in use after a garbage collection, on and off the JavaScript heap. */
export async function memoryInUse(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Samples memory until it is disposed. */
export class MemoryPeak implements Disposable {
  readonly #timer = setInterval(() => this.#sample(), 10);
  #bytes = 0;

  /** The maximum bytes off the JavaScript heap, where incoming responses are buffered. */
  get bytes(): number {
    this.#sample();
    return this.#bytes;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    this.#bytes = Math.max(this.#bytes, process.memoryUsage().external);
  }
}
