import type { RunningContainer } from './running-container.ts';

/** A pod that a kubelet runs. Moments are of the node's monotonic clock. */
export interface RunningPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly startedAtMs: number;
  readonly containers: readonly RunningContainer[];
}

/** The pause container that every pod has beside its own. */
const SANDBOX_MEMORY_BYTES = 901_120;

/** CPU time of all of a pod's containers, in core-nanoseconds. */
export function podCoreNanoseconds(pod: RunningPod, atMs: number): number {
  let sum = 0;
  for (const container of pod.containers) sum += container.lifetimeCoreNanoseconds(atMs);
  return sum;
}

/** The pod cgroup's working set. */
export function podMemoryBytes(pod: RunningPod, atMs: number): number {
  return pod.containers.reduce((sum, container) => sum + container.memoryBytes(atMs), SANDBOX_MEMORY_BYTES);
}

/** Memory of all of a pod's containers that was swapped out. */
export function podSwapBytes(pod: RunningPod, atMs: number): number {
  return pod.containers.reduce((sum, container) => sum + container.swapBytes(atMs), 0);
}

/** The containers that a kubelet tells of: one that waits to be restarted after a crash is left out. */
export function runningContainers({ containers }: RunningPod, atMs: number): readonly RunningContainer[] {
  return containers.filter((container) => container.isRunning(atMs));
}
