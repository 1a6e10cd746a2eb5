import type { RunningPod, RuntimeKind } from '../machine/node-machine.ts';
import type { RunningContainer } from '../machine/running-container.ts';
import { seededBetween } from '../random.ts';

/** What a kubelet knows of one container when it is asked. */
interface ContainerSample {
  readonly startedAtMs: number;
  readonly takenAtMs: number;
  readonly usageNanoCores: number;
  readonly usageCoreNanoSeconds: number;
  readonly workingSetBytes: number;
}

/** How to sample. */
interface SamplingOptions {
  readonly nowMs: number;
  readonly runtime: RuntimeKind;
  /** Whether this request counts as one for the runtime's rate since anybody last asked. */
  readonly asks: boolean;
}

/**
 * Samples a container as its runtime does: `cri` a few milliseconds ago, one container after another;
 * `cadvisor` at the latest housekeeping.
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

  sample({ nowMs, runtime, asks }: SamplingOptions): ContainerSample {
    const container = this.#container;
    const bornAtMs = container.startedAtMs(nowMs);
    const { takenAtMs, usageNanoCores, usageCoreNanoSeconds } =
      runtime === 'cri' ? this.#readNow(bornAtMs, { nowMs, asks }) : this.#lookedAt(bornAtMs, nowMs);
    const knowsCpu = !container.unknown.includes('cpu');
    return {
      startedAtMs: bornAtMs,
      takenAtMs,
      usageNanoCores: knowsCpu ? usageNanoCores : 0,
      usageCoreNanoSeconds: knowsCpu ? usageCoreNanoSeconds : 0,
      workingSetBytes: container.unknown.includes('memory') ? 0 : container.memoryBytes(takenAtMs),
    };
  }

  #readNow(bornAtMs: number, { nowMs, asks }: Pick<SamplingOptions, 'nowMs' | 'asks'>) {
    const takenAtMs = Math.max(bornAtMs, nowMs - this.#readAgoMs);
    return {
      takenAtMs,
      usageNanoCores: asks ? this.#container.nanocoresSinceLastAsked(takenAtMs) : 0,
      usageCoreNanoSeconds: this.#container.cpuCoreNanoseconds(takenAtMs),
    };
  }

  #lookedAt(bornAtMs: number, nowMs: number) {
    const look = latestLook(this.#housekeepingIntervalMs, bornAtMs, nowMs);
    const usage = usageAtLook(look, (atMs) => this.#container.cpuCoreNanoseconds(atMs));
    return {
      takenAtMs: look.takenAtMs,
      usageNanoCores: usage.nanocores,
      usageCoreNanoSeconds: usage.coreNanoseconds,
    };
  }
}

/** {@link ContainerSampler} for those who ask once. */
export function sampleContainer(
  pod: RunningPod,
  container: RunningContainer,
  options: SamplingOptions,
): ContainerSample {
  return new ContainerSampler(pod, container).sample(options);
}

/** When cAdvisor last looked at a cgroup, and when before that. */
interface HousekeepingSample {
  readonly takenAtMs: number;
  /** `undefined` at the first look, from which no rate can be told. */
  readonly previousAtMs: number | undefined;
}

/**
 * The moments at which cAdvisor samples a cgroup: once as it appears, then every 10 to 20 s, each cgroup in a
 * rhythm of its own.
 */
export function latestHousekeeping(id: string, startedAtMs: number, nowMs: number): HousekeepingSample {
  return latestLook(housekeepingIntervalMs(id), startedAtMs, nowMs);
}

/** How long after each other cAdvisor looks at a cgroup. */
export function housekeepingIntervalMs(id: string): number {
  return seededBetween({ from: 10_000, to: 20_000 }, 0, id);
}

/** {@link latestHousekeeping} of a cgroup whose interval is known. */
export function latestLook(intervalMs: number, startedAtMs: number, nowMs: number): HousekeepingSample {
  const rounds = Math.max(0, Math.floor((nowMs - startedAtMs) / intervalMs));
  const takenAtMs = startedAtMs + rounds * intervalMs;
  return { takenAtMs, previousAtMs: rounds > 0 ? takenAtMs - intervalMs : undefined };
}

/** What cAdvisor tells of a counter: its value at the latest look, and the mean rate since the one before. */
interface LookedAtUsage {
  readonly coreNanoseconds: number;
  /** 0 when there was only one look. */
  readonly nanocores: number;
}

/** Looks at a counter. */
export function usageAtLook(
  { takenAtMs, previousAtMs }: HousekeepingSample,
  cpuCoreNanoseconds: (atMs: number) => number,
): LookedAtUsage {
  const coreNanoseconds = cpuCoreNanoseconds(takenAtMs);
  if (previousAtMs === undefined) return { coreNanoseconds, nanocores: 0 };
  const used = coreNanoseconds - cpuCoreNanoseconds(previousAtMs);
  const nanocores = Math.max(0, Math.floor(used / ((takenAtMs - previousAtMs) / 1000)));
  return { coreNanoseconds, nanocores };
}

/** The mean rate between the two latest looks, in nanocores; 0 when there was only one. */
export function nanocoresBetweenLooks(
  look: HousekeepingSample,
  cpuCoreNanoseconds: (atMs: number) => number,
): number {
  return usageAtLook(look, cpuCoreNanoseconds).nanocores;
}
