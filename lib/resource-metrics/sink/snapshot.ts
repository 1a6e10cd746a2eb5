import { isDeepStrictEqual } from 'node:util';
import type { ExtraBytes } from '#lib/resource-metrics/metrics-batch.ts';

/** What a container uses. */
export interface ContainerUsage {
  readonly name: string;
  readonly cpuNanocores: number;
  readonly memoryBytes: number;
  readonly extraBytes?: ExtraBytes | undefined;
}

/** What a node uses. */
export interface NodeUsage {
  readonly name: string;
  /** The end of the window, by the kubelet's clock. */
  readonly timestampMs: number;
  /** How long the CPU value averages over. */
  readonly windowMs: number;
  readonly cpuNanocores: number;
  readonly memoryBytes: number;
  readonly extraBytes?: ExtraBytes | undefined;
}

/** What a pod uses: all of its containers that count, in the kubelet's order. */
export interface PodUsage {
  /** `NAMESPACE/NAME`. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
  /** Timestamp and window are those of the container whose timestamp is the earliest. */
  readonly timestampMs: number;
  readonly windowMs: number;
  readonly containers: readonly ContainerUsage[];
}

/** Whether two usages of one pod say the same, as they do in two snapshots between which no sample was taken. */
export function isSamePodUsage(a: PodUsage, b: PodUsage): boolean {
  const isSameTime = a.timestampMs === b.timestampMs && a.windowMs === b.windowMs;
  return isSameTime && a.uid === b.uid && isDeepStrictEqual(a.containers, b.containers);
}

/** Everything that is served at one moment. Immutable. */
export interface Snapshot {
  /** Rises by one with every snapshot of this process. */
  readonly sequence: number;
  /** When it was published, by our wall clock. */
  readonly publishedAtMs: number;
  /** By node name. */
  readonly nodes: ReadonlyMap<string, NodeUsage>;
  /** By namespace, then by pod name. */
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, PodUsage>>;
}

const NONE = new Map<string, never>() as ReadonlyMap<string, never>;

/** What is served before anything was scraped. */
export const EMPTY_SNAPSHOT = { sequence: 0, publishedAtMs: 0, nodes: NONE, pods: NONE } satisfies Snapshot;
