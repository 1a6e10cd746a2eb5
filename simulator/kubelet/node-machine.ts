import type { NodeClock } from './node-clock.ts';
import type { Load, RunningContainer } from './running-container.ts';

/** The source of a kubelet's container usage. */
export type RuntimeKind = 'cri' | 'cadvisor';

/** How long the usage of removed pods is retained per pod; older usage is part of a sum. */
const DEPARTED_RETENTION_MS = 900_000;

/** One machine and its pods: the actual usage, which its kubelet reports sampled and rounded. */
export class NodeMachine {
  readonly nodeName: string;
  readonly clock: NodeClock;
  readonly runtime: RuntimeKind;
  readonly memoryBytes: number;
  /** Capacity of swap; 0 when swap is off. */
  readonly swapBytes: number;
  readonly bootedAtMs: number;
  /** Whether its kubelet reports pressure (PSI) and IO, as kubelets do since 1.34 by default. */
  readonly kubeletPsi: boolean;
  readonly #system: Load;
  readonly #tenants = new Map<string, PodRecord>();
  #departed: PodRecord[] = [];
  #usedByExpired = 0;

  /** @param system load beside pods: kernel, kubelet, runtime */
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
   * @param arrivedAtMs when it started on this machine; earlier usage does not count
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
    const expired = this.#departed.filter(({ leftAtMs }) => leftAtMs < nowMs - DEPARTED_RETENTION_MS);
    for (const old of expired) this.#usedByExpired += usedBy(old, nowMs);
    this.#departed = this.#departed.filter((one) => !expired.includes(one));
  }

  /** CPU time of all pods since they started here, in core-nanoseconds. */
  podsCoreNanoseconds(atMs: number): number {
    let sum = this.#usedByExpired;
    for (const tenant of this.#departed) sum += usedBy(tenant, atMs);
    for (const tenant of this.#tenants.values()) sum += usedBy(tenant, atMs);
    return sum;
  }

  podsMemoryBytes(atMs: number): number {
    let sum = 0;
    for (const tenant of this.#departed) sum += memoryOf(tenant, atMs);
    for (const tenant of this.#tenants.values()) sum += memoryOf(tenant, atMs);
    return sum;
  }

  /** Swapped memory of pods; the system has none. */
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

/** A pod on this machine, or one that left it recently. */
interface PodRecord {
  readonly pod: RunningPod;
  /** Core-nanoseconds of the pod before it started here. */
  readonly usedBefore: number;
  readonly arrivedAtMs: number;
  readonly leftAtMs: number;
}

function usedBy({ pod, usedBefore, leftAtMs }: PodRecord, atMs: number): number {
  return Math.max(0, podCoreNanoseconds(pod, Math.min(atMs, leftAtMs)) - usedBefore);
}

function memoryOf({ pod, arrivedAtMs, leftAtMs }: PodRecord, atMs: number): number {
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

/** The pause container of each pod. */
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

/** Swapped memory of a pod's containers. */
export function podSwapBytes(pod: RunningPod, atMs: number): number {
  return pod.containers.reduce((sum, container) => sum + container.swapBytes(atMs), 0);
}

/** The containers that a kubelet reports: all but those that wait for a restart. */
export function runningContainers({ containers }: RunningPod, atMs: number): readonly RunningContainer[] {
  return containers.filter((container) => container.isRunning(atMs));
}
