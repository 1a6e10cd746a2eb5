import { readdir } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ManualClock } from './manual-clock.ts';

/** What a process holds that must come back to where it was. */
export interface HeldResources {
  readonly fileDescriptors: number;
  readonly sockets: number;
  /** On the manual clock. */
  readonly timers: number;
}

/** Counts what this process holds now. */
export async function heldResources(clock: ManualClock): Promise<HeldResources> {
  return {
    fileDescriptors: (await readdir('/proc/self/fd')).length,
    sockets: process.getActiveResourcesInfo().filter((type) => type === 'TCPSocketWrap').length,
    timers: clock.sleeperCount,
  };
}

/** The most of everything that was held at any of some moments: what is usual goes up and down. */
export function mostOf(moments: readonly HeldResources[]): HeldResources {
  const most = (what: keyof HeldResources) => Math.max(...moments.map((held) => held[what]));
  return { fileDescriptors: most('fileDescriptors'), sockets: most('sockets'), timers: most('timers') };
}

/** Whether there is no more of anything than there was. */
export function isWithin(held: HeldResources, before: HeldResources): boolean {
  return (
    held.fileDescriptors <= before.fileDescriptors &&
    held.sockets <= before.sockets &&
    held.timers <= before.timers
  );
}

setFlagsFromString('--expose-gc');
/** Collects all garbage at once. */
export const collectGarbage: () => void = runInNewContext('gc');

/** Bytes in use once what is garbage has been collected, on and off the JavaScript heap. */
export async function memoryInUse(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Samples memory while it is not disposed. */
export class MemoryPeak implements Disposable {
  readonly #timer = setInterval(() => this.#sample(), 10);
  #bytes = 0;

  /** The most bytes off the JavaScript heap, where responses are held while they come in. */
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
