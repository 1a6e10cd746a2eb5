import { isDeepStrictEqual } from 'node:util';
import type { ExtraBytes } from '#lib/resource-metrics/metrics-batch.ts';

export interface ContainerUsage {
  readonly name: string;
  readonly cpuNanocores: number;
  readonly memoryBytes: number;
  readonly extraBytes?: ExtraBytes | undefined;
}

/** Usage of a container or node over a window. */
export interface MeasuredUsage extends ContainerUsage {
  /** End of the window, by the kubelet's clock; the memory is that of this moment. */
  readonly timestampMs: number;
  /** The period over which the CPU usage is averaged. */
  readonly windowMs: number;
}

export type NodeUsage = MeasuredUsage;

/** Usage of a pod's containers, in the kubelet's order. */
export interface PodUsage {
  /** `NAMESPACE/NAME`. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
  /** Timestamp and window are those of the container with the earliest timestamp. */
  readonly timestampMs: number;
  readonly windowMs: number;
  readonly containers: readonly ContainerUsage[];
}

/** Whether two usages of a pod are equal, as in two snapshots without a new sample in between. */
export function isSamePodUsage(a: PodUsage, b: PodUsage): boolean {
  const isSameTime = a.timestampMs === b.timestampMs && a.windowMs === b.windowMs;
  return isSameTime && a.uid === b.uid && isDeepStrictEqual(a.containers, b.containers);
}

/** All usages served at one moment. Immutable. */
export interface Snapshot {
  /** Increases by one with each snapshot of this process. */
  readonly sequence: number;
  /** Wall clock time of publication. */
  readonly publishedAtMs: number;
  /** By node name. */
  readonly nodes: ReadonlyMap<string, NodeUsage>;
  /** By namespace, then by pod name. */
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, PodUsage>>;
}

const NONE = new Map<string, never>() as ReadonlyMap<string, never>;

export const EMPTY_SNAPSHOT = { sequence: 0, publishedAtMs: 0, nodes: NONE, pods: NONE } satisfies Snapshot;
