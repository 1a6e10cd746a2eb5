/** An interval under one load, or stopped; a restart begins a new life with a counter from zero. */
interface LoadInterval {
  readonly fromMs: number;
  readonly lifeFromMs: number;
  readonly load: Load;
  readonly isStopped: boolean;
  /** Core-nanoseconds of this life, and of all lives, when the interval began. */
  readonly usedInLife: number;
  readonly usedInAll: number;
}

/** A reading of a container that its kubelet fails to take, and reports as 0. */
export type MissingReading = 'cpu' | 'memory';

/** One container and its restarts. Moments are of the node's monotonic clock. */
export class RunningContainer {
  readonly name: string;
  readonly unknown: readonly MissingReading[];
  readonly #stretches: LoadInterval[];
  #lastRead: { readonly atMs: number; readonly coreNanoseconds: number } | undefined;

  constructor(
    name: string,
    load: Load,
    { startedAtMs, unknown = [] }: { startedAtMs: number; unknown?: readonly MissingReading[] },
  ) {
    this.name = name;
    this.unknown = unknown;
    this.#stretches = [
      {
        fromMs: startedAtMs,
        lifeFromMs: startedAtMs,
        load,
        isStopped: false,
        usedInLife: 0,
        usedInAll: 0,
      },
    ];
  }

  /** Whether it runs, and its kubelet reports it. */
  isRunning(atMs: number): boolean {
    return !this.#at(atMs).isStopped;
  }

  /** Start of the life that the container had at a moment. */
  startedAtMs(atMs: number): number {
    return this.#at(atMs).lifeFromMs;
  }

  /** CPU time of the life that the container had at a moment. */
  cpuCoreNanoseconds(atMs: number): number {
    const stretch = this.#at(atMs);
    return stretch.usedInLife + usedIn(stretch, atMs);
  }

  /** CPU time of all lives, which the node as a whole has used for this container. */
  lifetimeCoreNanoseconds(atMs: number): number {
    const stretch = this.#at(atMs);
    return stretch.usedInAll + usedIn(stretch, atMs);
  }

  memoryBytes(atMs: number): number {
    const { load, fromMs, isStopped } = this.#at(atMs);
    return isStopped ? 0 : load.memoryBytes(atMs - fromMs);
  }

  swapBytes(atMs: number): number {
    const { load, fromMs, isStopped } = this.#at(atMs);
    return isStopped ? 0 : (load.swapBytes?.(atMs - fromMs) ?? 0);
  }

  /**
   * `usageNanoCores` of a CRI runtime: the rate since the last request, however short that interval is; 0 for the first
   * request.
   */
  nanocoresSinceLastRequest(atMs: number): number {
    const now = { atMs, coreNanoseconds: this.cpuCoreNanoseconds(atMs) };
    const before = this.#lastRead;
    this.#lastRead = now;
    if (!before || now.atMs <= before.atMs || now.coreNanoseconds < before.coreNanoseconds) return 0;
    return Math.floor((now.coreNanoseconds - before.coreNanoseconds) / ((now.atMs - before.atMs) / 1000));
  }

  changeLoad(load: Load, atMs: number): void {
    const { lifeFromMs, isStopped } = this.#at(atMs);
    this.#stretches.push({
      fromMs: atMs,
      lifeFromMs,
      load,
      isStopped,
      usedInLife: this.cpuCoreNanoseconds(atMs),
      usedInAll: this.lifetimeCoreNanoseconds(atMs),
    });
  }

  /** Starts a new life, also after a stop. */
  restart(atMs: number): void {
    const { load } = this.#at(atMs);
    const usedInAll = this.lifetimeCoreNanoseconds(atMs);
    const life = { fromMs: atMs, lifeFromMs: atMs, load, isStopped: false };
    this.#stretches.push({ ...life, usedInLife: 0, usedInAll });
    this.#lastRead = undefined;
  }

  /** Stops it, as a crash does; it uses nothing until it is restarted. */
  stop(atMs: number): void {
    const { load, lifeFromMs } = this.#at(atMs);
    const [usedInLife, usedInAll] = [this.cpuCoreNanoseconds(atMs), this.lifetimeCoreNanoseconds(atMs)];
    this.#stretches.push({ fromMs: atMs, lifeFromMs, load, isStopped: true, usedInLife, usedInAll });
  }

  #at(atMs: number): LoadInterval {
    const latest = this.#stretches[this.#stretches.length - 1];
    if (latest && latest.fromMs <= atMs) return latest;
    const stretch = this.#stretches.findLast(({ fromMs }) => fromMs <= atMs) ?? this.#stretches[0];
    if (!stretch) throw new Error(`Container ${this.name} has no history`);
    return stretch;
  }
}

/** CPU time of an interval until a moment in it, in core-nanoseconds. */
function usedIn({ load, fromMs, isStopped }: LoadInterval, atMs: number): number {
  return isStopped ? 0 : load.cpuCoreNanoseconds(atMs - fromMs);
}

/** The load of a container or a node's system, as a function of its age. */
export interface Load {
  /** CPU time used since the start, in core-nanoseconds; never falls. */
  cpuCoreNanoseconds(lifeMs: number): number;
  /** Working set in bytes. */
  memoryBytes(lifeMs: number): number;
  /** Swapped memory in bytes; absent when it is always 0. */
  swapBytes?(lifeMs: number): number;
}

const BURST_PERIOD_MS = 100;
const CORE_NANOSECONDS_PER_MS = 1e6;
const MILLICORE_NANOSECONDS_PER_MS = 1e3;

/**
 * A constant load as CFS quotas distribute it: the CPU time of each tenth of a second is used at its start. Averages
 * over seconds are exact; a rate over a few milliseconds is not representative, as on real machines.
 */
export function steadyLoad(cpuMillicores: number, memoryBytes: number, { swapBytes = 0 } = {}): Load {
  return new SteadyLoad(cpuMillicores, memoryBytes, swapBytes);
}

/** A class rather than closures: a large cluster has hundreds of thousands of them. */
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
