import { seededBetween } from '../seeded.ts';
import { latestHousekeeping, nanocoresBetweenLooks } from './housekeeping.ts';
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

/**
 * Samples a container as its runtime does: `cri` a few milliseconds ago, one container after another;
 * `cadvisor` at the latest housekeeping.
 *
 * @param asks whether this question counts as one for the runtime's rate since anybody last asked
 */
export function sampleContainer(
  pod: RunningPod,
  container: RunningContainer,
  { nowMs, runtime, asks }: { readonly nowMs: number; readonly runtime: RuntimeKind; readonly asks: boolean },
): ContainerSample {
  const id = `${pod.uid}/${container.name}`;
  const bornAtMs = container.startedAtMs(nowMs);
  const look = latestHousekeeping(id, bornAtMs, nowMs);
  const takenAtMs =
    runtime === 'cri' ? Math.max(bornAtMs, nowMs - seededBetween({ from: 0, to: 8 }, 0, id)) : look.takenAtMs;
  const knowsCpu = !container.unknown.includes('cpu');
  const usageNanoCores =
    runtime === 'cadvisor'
      ? nanocoresBetweenLooks(look, (atMs) => container.cpuCoreNanoseconds(atMs))
      : asks
        ? container.nanocoresSinceLastAsked(takenAtMs)
        : 0;
  return {
    startedAtMs: bornAtMs,
    takenAtMs,
    usageNanoCores: knowsCpu ? usageNanoCores : 0,
    usageCoreNanoSeconds: knowsCpu ? container.cpuCoreNanoseconds(takenAtMs) : 0,
    workingSetBytes: container.unknown.includes('memory') ? 0 : container.memoryBytes(takenAtMs),
  };
}
