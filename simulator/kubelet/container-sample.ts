import { seededBetween } from '../seeded.ts';
import { housekeepingIntervalMs, latestLook, usageAtLook } from './housekeeping.ts';
import type { RuntimeKind } from './node-machine.ts';
import type { RunningContainer } from './running-container.ts';
import type { RunningPod } from './running-pod.ts';

/** What a kubelet knows of one container when it is asked. */
export interface ContainerSample {
  readonly startedAtMs: number;
  readonly takenAtMs: number;
  readonly usageNanoCores: number;
  readonly usageCoreNanoSeconds: number;
  readonly workingSetBytes: number;
}

/** How to sample. */
export interface SamplingOptions {
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
