import { seededBetween } from '../random.ts';
import type { RunningPod, RuntimeKind } from './node-machine.ts';
import type { RunningContainer } from './running-container.ts';

/** A kubelet's sample of one container. */
interface ContainerSample extends SampledCounter {
  readonly startedAtMs: number;
  readonly takenAtMs: number;
  readonly workingSetBytes: number;
}

/**
 * Samples a container as its runtime does: `cri` a few milliseconds ago, one container after another, with the rate
 * since the request before; `cadvisor` at the latest housekeeping.
 */
export function sampleContainer(
  pod: RunningPod,
  container: RunningContainer,
  { nowMs, runtime }: { readonly nowMs: number; readonly runtime: RuntimeKind },
): ContainerSample {
  const id = `${pod.uid}/${container.name}`;
  const startedAtMs = container.startedAtMs(nowMs);
  const { takenAtMs, ...usage } =
    runtime === 'cri'
      ? readNow(container, Math.max(startedAtMs, nowMs - seededBetween({ from: 0, to: 8 }, 0, id)))
      : readHousekeeping(container, latestHousekeeping(id, startedAtMs, nowMs));
  return {
    startedAtMs,
    takenAtMs,
    ...(container.unknown.includes('cpu') ? { usageNanoCores: 0, usageCoreNanoSeconds: 0 } : usage),
    workingSetBytes: container.unknown.includes('memory') ? 0 : container.memoryBytes(takenAtMs),
  };
}

function readNow(container: RunningContainer, takenAtMs: number) {
  return {
    takenAtMs,
    usageNanoCores: container.nanocoresSinceLastRequest(takenAtMs),
    usageCoreNanoSeconds: container.cpuCoreNanoseconds(takenAtMs),
  };
}

function readHousekeeping(container: RunningContainer, times: HousekeepingSample) {
  const { takenAtMs } = times;
  return { takenAtMs, ...sampleCounter(times, (atMs) => container.cpuCoreNanoseconds(atMs)) };
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
  const intervalMs = seededBetween({ from: 10_000, to: 20_000 }, 0, id);
  const rounds = Math.max(0, Math.floor((nowMs - startedAtMs) / intervalMs));
  const takenAtMs = startedAtMs + rounds * intervalMs;
  return { takenAtMs, previousAtMs: rounds > 0 ? takenAtMs - intervalMs : undefined };
}

/** A counter as cAdvisor reports it: its value in the latest sample, and the mean rate since the one before. */
interface SampledCounter {
  /** 0 for the first sample. */
  readonly usageNanoCores: number;
  readonly usageCoreNanoSeconds: number;
}

/** Samples a counter. */
export function sampleCounter(
  { takenAtMs, previousAtMs }: HousekeepingSample,
  cpuCoreNanoseconds: (atMs: number) => number,
): SampledCounter {
  const usageCoreNanoSeconds = cpuCoreNanoseconds(takenAtMs);
  if (previousAtMs === undefined) return { usageNanoCores: 0, usageCoreNanoSeconds };
  const used = usageCoreNanoSeconds - cpuCoreNanoseconds(previousAtMs);
  const usageNanoCores = Math.max(0, Math.floor(used / ((takenAtMs - previousAtMs) / 1000)));
  return { usageNanoCores, usageCoreNanoSeconds };
}
