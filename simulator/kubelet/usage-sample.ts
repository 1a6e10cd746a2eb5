import type { RunningPod, RuntimeKind } from '../machine/node-machine.ts';
import type { RunningContainer } from '../machine/running-container.ts';
import { seededBetween } from '../random.ts';

/** A kubelet's sample of one container. */
interface ContainerSample {
  readonly startedAtMs: number;
  readonly takenAtMs: number;
  readonly usageNanoCores: number;
  readonly usageCoreNanoSeconds: number;
  readonly workingSetBytes: number;
}

interface SamplingOptions {
  readonly nowMs: number;
  readonly runtime: RuntimeKind;
  /** Whether this request starts a new interval for the runtime's rate. */
  readonly startsInterval: boolean;
}

/**
 * Samples a container as its runtime does: `cri` a few milliseconds ago, one container after another; `cadvisor` at the
 * latest housekeeping.
 */
export class ContainerSampler {
  readonly #container: RunningContainer;
  readonly #readAgoMs: number;
  readonly #housekeepingIntervalMs: number;

  constructor(pod: RunningPod, container: RunningContainer) {
    const id = `${pod.uid}/${container.name}`;
    this.#container = container;
    this.#readAgoMs = seededBetween({ from: 0, to: 8 }, 0, id);
    this.#housekeepingIntervalMs = housekeepingIntervalMs(id);
  }

  sample({ nowMs, runtime, startsInterval }: SamplingOptions): ContainerSample {
    const container = this.#container;
    const bornAtMs = container.startedAtMs(nowMs);
    const { takenAtMs, usageNanoCores, usageCoreNanoSeconds } =
      runtime === 'cri'
        ? this.#readNow(bornAtMs, { nowMs, startsInterval })
        : this.#readHousekeeping(bornAtMs, nowMs);
    const knowsCpu = !container.unknown.includes('cpu');
    return {
      startedAtMs: bornAtMs,
      takenAtMs,
      usageNanoCores: knowsCpu ? usageNanoCores : 0,
      usageCoreNanoSeconds: knowsCpu ? usageCoreNanoSeconds : 0,
      workingSetBytes: container.unknown.includes('memory') ? 0 : container.memoryBytes(takenAtMs),
    };
  }

  #readNow(bornAtMs: number, { nowMs, startsInterval }: Pick<SamplingOptions, 'nowMs' | 'startsInterval'>) {
    const takenAtMs = Math.max(bornAtMs, nowMs - this.#readAgoMs);
    return {
      takenAtMs,
      usageNanoCores: startsInterval ? this.#container.nanocoresSinceLastRequest(takenAtMs) : 0,
      usageCoreNanoSeconds: this.#container.cpuCoreNanoseconds(takenAtMs),
    };
  }

  #readHousekeeping(bornAtMs: number, nowMs: number) {
    const times = latestSample(this.#housekeepingIntervalMs, bornAtMs, nowMs);
    const usage = sampleCounter(times, (atMs) => this.#container.cpuCoreNanoseconds(atMs));
    return {
      takenAtMs: times.takenAtMs,
      usageNanoCores: usage.nanocores,
      usageCoreNanoSeconds: usage.coreNanoseconds,
    };
  }
}

/** {@link ContainerSampler} for a single request. */
export function sampleContainer(
  pod: RunningPod,
  container: RunningContainer,
  options: SamplingOptions,
): ContainerSample {
  return new ContainerSampler(pod, container).sample(options);
}

/** The last two moments at which cAdvisor sampled a cgroup. */
interface HousekeepingSample {
  readonly takenAtMs: number;
  /** `undefined` for the first sample, which has no rate. */
  readonly previousAtMs: number | undefined;
}

/**
 * The moments at which cAdvisor samples a cgroup: once when it appears, then every 10 to 20 s, at an interval that
 * depends on the cgroup.
 */
export function latestHousekeeping(id: string, startedAtMs: number, nowMs: number): HousekeepingSample {
  return latestSample(housekeepingIntervalMs(id), startedAtMs, nowMs);
}

/** The interval at which cAdvisor samples a cgroup. */
export function housekeepingIntervalMs(id: string): number {
  return seededBetween({ from: 10_000, to: 20_000 }, 0, id);
}

/** {@link latestHousekeeping} of a cgroup with this interval. */
export function latestSample(intervalMs: number, startedAtMs: number, nowMs: number): HousekeepingSample {
  const rounds = Math.max(0, Math.floor((nowMs - startedAtMs) / intervalMs));
  const takenAtMs = startedAtMs + rounds * intervalMs;
  return { takenAtMs, previousAtMs: rounds > 0 ? takenAtMs - intervalMs : undefined };
}

/** A counter as cAdvisor reports it: its value in the latest sample, and the mean rate since the one before. */
interface SampledCounter {
  readonly coreNanoseconds: number;
  /** 0 for the first sample. */
  readonly nanocores: number;
}

/** Samples a counter. */
export function sampleCounter(
  { takenAtMs, previousAtMs }: HousekeepingSample,
  cpuCoreNanoseconds: (atMs: number) => number,
): SampledCounter {
  const coreNanoseconds = cpuCoreNanoseconds(takenAtMs);
  if (previousAtMs === undefined) return { coreNanoseconds, nanocores: 0 };
  const used = coreNanoseconds - cpuCoreNanoseconds(previousAtMs);
  const nanocores = Math.max(0, Math.floor(used / ((takenAtMs - previousAtMs) / 1000)));
  return { coreNanoseconds, nanocores };
}
