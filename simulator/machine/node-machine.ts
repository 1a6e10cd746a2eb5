import type { NodeClock } from './node-clock.ts';
import type { Load, RunningContainer } from './running-container.ts';

/** Where a kubelet has container usage from. */
export type RuntimeKind = 'cri' | 'cadvisor';

/** Nobody asks for what the machine did longer ago, pod by pod; what left before then counts as a plain sum. */
const DEPARTED_KEPT_MS = 900_000;

/** One machine and what runs on it: the truth that its kubelet reports, sampled and rounded. */
export class NodeMachine {
  readonly nodeName: string;
  readonly clock: NodeClock;
  readonly runtime: RuntimeKind;
  readonly memoryBytes: number;
  /** How much can be swapped out; 0 where swap is off. */
  readonly swapBytes: number;
  readonly bootedAtMs: number;
  /** Whether its kubelet tells of pressure (PSI) and IO, as those since 1.34 do unless told otherwise. */
  readonly kubeletPsi: boolean;
  readonly #system: Load;
  readonly #tenants = new Map<string, Tenant>();
  #departed: Tenant[] = [];
  #usedByForgotten = 0;

  /** @param system what runs beside pods: kernel, kubelet, runtime */
  constructor(
    nodeName: string,
    clock: NodeClock,
    options: {
      runtime: RuntimeKind;
      memoryBytes: number;
      swapBytes?: number;
      kubeletPsi?: boolean;
      bootedAtMs: number;
      system: Load;
    },
  ) {
    this.nodeName = nodeName;
    this.clock = clock;
    this.runtime = options.runtime;
    this.memoryBytes = options.memoryBytes;
    this.swapBytes = options.swapBytes ?? 0;
    this.kubeletPsi = options.kubeletPsi ?? true;
    this.bootedAtMs = options.bootedAtMs;
    this.#system = options.system;
  }

  *pods(): Iterable<RunningPod> {
    for (const { pod } of this.#tenants.values()) yield pod;
  }

  pod(uid: string): RunningPod | undefined {
    return this.#tenants.get(uid)?.pod;
  }

  /**
   * Runs a pod.
   *
   * @param arrivedAtMs since when it is here; what it used before is not of this machine's time
   */
  start(pod: RunningPod, arrivedAtMs = pod.startedAtMs): void {
    const usedBefore = podCoreNanoseconds(pod, arrivedAtMs);
    this.#tenants.set(pod.uid, { pod, usedBefore, arrivedAtMs, leftAtMs: Number.POSITIVE_INFINITY });
  }

  stop(uid: string): void {
    const tenant = this.#tenants.get(uid);
    if (!tenant) return;
    const nowMs = this.clock.nowMs();
    this.#tenants.delete(uid);
    this.#departed.push({ ...tenant, leftAtMs: nowMs });
    const forgotten = this.#departed.filter(({ leftAtMs }) => leftAtMs < nowMs - DEPARTED_KEPT_MS);
    for (const old of forgotten) this.#usedByForgotten += usedBy(old, nowMs);
    this.#departed = this.#departed.filter((one) => !forgotten.includes(one));
  }

  /** CPU time of all pods since they came here, in core-nanoseconds. */
  podsCoreNanoseconds(atMs: number): number {
    let sum = this.#usedByForgotten;
    for (const tenant of this.#departed) sum += usedBy(tenant, atMs);
    for (const tenant of this.#tenants.values()) sum += usedBy(tenant, atMs);
    return sum;
  }

  podsMemoryBytes(atMs: number): number {
    let sum = 0;
    for (const tenant of this.#departed) sum += heldBy(tenant, atMs);
    for (const tenant of this.#tenants.values()) sum += heldBy(tenant, atMs);
    return sum;
  }

  /** What pods have swapped out; the system has nothing there. */
  swapUsageBytes(atMs: number): number {
    let sum = 0;
    for (const { pod } of this.#tenants.values()) sum += podSwapBytes(pod, atMs);
    return sum;
  }

  /** CPU time of the whole machine since it booted. */
  coreNanoseconds(atMs: number): number {
    return this.#system.cpuCoreNanoseconds(atMs - this.bootedAtMs) + this.podsCoreNanoseconds(atMs);
  }

  workingSetBytes(atMs: number): number {
    return this.#system.memoryBytes(atMs - this.bootedAtMs) + this.podsMemoryBytes(atMs);
  }
}

/** A pod on this machine, while it is there and for some time after. */
interface Tenant {
  readonly pod: RunningPod;
  /** Core-nanoseconds that it had used when it came. */
  readonly usedBefore: number;
  readonly arrivedAtMs: number;
  readonly leftAtMs: number;
}

function usedBy({ pod, usedBefore, leftAtMs }: Tenant, atMs: number): number {
  return Math.max(0, podCoreNanoseconds(pod, Math.min(atMs, leftAtMs)) - usedBefore);
}

function heldBy({ pod, arrivedAtMs, leftAtMs }: Tenant, atMs: number): number {
  return arrivedAtMs <= atMs && atMs < leftAtMs ? podMemoryBytes(pod, atMs) : 0;
}

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
