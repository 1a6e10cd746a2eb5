/** What a container or a node's system does to its machine, as a function of how long it lives. */
export interface Load {
  /** CPU time used since the start, in core-nanoseconds; never falls. */
  cpuCoreNanoseconds(lifeMs: number): number;
  /** Working set in bytes. */
  memoryBytes(lifeMs: number): number;
  /** Memory that was swapped out, in bytes; absent where none ever is. */
  swapBytes?(lifeMs: number): number;
}

const BURST_PERIOD_MS = 100;
const CORE_NANOSECONDS_PER_MS = 1e6;
const MILLICORE_NANOSECONDS_PER_MS = 1e3;

/**
 * A constant load as the kernel's CFS quota lets it through: what is due in each tenth of a second is burnt at
 * its start. Averages over seconds are exact; a rate over a few milliseconds says nothing, as on real machines.
 */
export function steadyLoad(cpuMillicores: number, memoryBytes: number, { swapBytes = 0 } = {}): Load {
  return new SteadyLoad(cpuMillicores, memoryBytes, swapBytes);
}

/** A class and not closures, as hundreds of thousands of them are in a large cluster. */
class SteadyLoad implements Load {
  readonly #cpuMillicores: number;
  readonly #memoryBytes: number;
  readonly #swapBytes: number;

  constructor(cpuMillicores: number, memoryBytes: number, swapBytes: number) {
    this.#cpuMillicores = cpuMillicores;
    this.#memoryBytes = memoryBytes;
    this.#swapBytes = swapBytes;
  }

  cpuCoreNanoseconds(lifeMs: number): number {
    const perPeriod = this.#cpuMillicores * MILLICORE_NANOSECONDS_PER_MS * BURST_PERIOD_MS;
    const burstRate = Math.max(1, Math.ceil(this.#cpuMillicores / 1000)) * CORE_NANOSECONDS_PER_MS;
    const life = Math.max(0, lifeMs);
    const periods = Math.floor(life / BURST_PERIOD_MS);
    const intoPeriodMs = life - periods * BURST_PERIOD_MS;
    return Math.floor(periods * perPeriod + Math.min(intoPeriodMs * burstRate, perPeriod));
  }

  memoryBytes(): number {
    return this.#memoryBytes;
  }

  swapBytes(): number {
    return this.#swapBytes;
  }
}
