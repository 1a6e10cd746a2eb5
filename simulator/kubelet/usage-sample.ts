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
  const startedAtMs = container.startedAtMs(nowMs);
  const times = sampleTimes(pod, container, { nowMs, runtime });
  const { takenAtMs } = times;
  const usage = runtime === 'cri' ? readNow(container, takenAtMs) : readHousekeeping(container, times);
  return {
    startedAtMs,
    takenAtMs,
    ...(container.unknown.includes('cpu') ? { usageNanoCores: 0, usageCoreNanoSeconds: 0 } : usage),
    workingSetBytes: container.unknown.includes('memory') ? 0 : container.memoryBytes(takenAtMs),
  };
}

/** When the sample of a container was taken that its kubelet reports now, and the one before. */
export function sampleTimes(
  pod: RunningPod,
  container: RunningContainer,
  { nowMs, runtime }: { readonly nowMs: number; readonly runtime: RuntimeKind },
): HousekeepingSample {
  const id = `${pod.uid}/${container.name}`;
  const startedAtMs = container.startedAtMs(nowMs);
  if (runtime === 'cadvisor') return latestHousekeeping(id, startedAtMs, nowMs);
  const takenAtMs = Math.max(startedAtMs, nowMs - seededBetween({ from: 0, to: 8 }, 0, id));
  return { takenAtMs, previousAtMs: undefined };
}

function readNow(container: RunningContainer, takenAtMs: number) {
  return {
    usageNanoCores: container.nanocoresSinceLastRequest(takenAtMs),
    usageCoreNanoSeconds: container.cpuCoreNanoseconds(takenAtMs),
  };
}

function readHousekeeping(container: RunningContainer, times: HousekeepingSample) {
  return sampleCounter(times, (atMs) => container.cpuCoreNanoseconds(atMs));
}

/** The last two moments at which cAdvisor sampled a cgroup. */
export interface HousekeepingSample {
  readonly takenAtMs: number;
  /** `undefined` for the first sample, which has no rate. */
  readonly previousAtMs: number | undefined;
}

const HOUSEKEEPING_MS = 15_000;
const HOUSEKEEPING_JITTER_MS = 2_500;

/**
 * The moments at which cAdvisor samples a cgroup: once when it appears, then at intervals of 10 to 20 s, each of
 * another length.
 */
export function latestHousekeeping(id: string, startedAtMs: number, nowMs: number): HousekeepingSample {
  const jitter = { from: -HOUSEKEEPING_JITTER_MS, to: HOUSEKEEPING_JITTER_MS };
  const momentOf = (round: number) =>
    startedAtMs + (round > 0 ? round * HOUSEKEEPING_MS + seededBetween(jitter, 0, id, round) : 0);
  let round = Math.max(0, Math.floor((nowMs - startedAtMs + HOUSEKEEPING_JITTER_MS) / HOUSEKEEPING_MS));
  if (round > 0 && momentOf(round) > nowMs) round--;
  return { takenAtMs: momentOf(round), previousAtMs: round > 0 ? momentOf(round - 1) : undefined };
}

/** As in recordings of a real kubelet, whose eviction manager has its node sampled. */
const NODE_HOUSEKEEPING_MS = 10_020;

/** The moments at which a node is sampled: every 10 s since its boot. */
export function latestNodeHousekeeping(bootedAtMs: number, nowMs: number): HousekeepingSample {
  const rounds = Math.max(0, Math.floor((nowMs - bootedAtMs) / NODE_HOUSEKEEPING_MS));
  const takenAtMs = bootedAtMs + rounds * NODE_HOUSEKEEPING_MS;
  return { takenAtMs, previousAtMs: rounds > 0 ? takenAtMs - NODE_HOUSEKEEPING_MS : undefined };
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
