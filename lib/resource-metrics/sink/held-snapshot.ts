import type { LivePodUid, NodeRecord } from './node-record.ts';
import type { HeldUsage } from './pod-record.ts';
import type { NodeUsage, Snapshot } from './snapshot.ts';

/** A snapshot as the sink knows it. */
export interface HeldSnapshot extends Snapshot {
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, HeldUsage>>;
}

/** What nodes use, by their names. */
export function nodeUsages(records: ReadonlyMap<string, NodeRecord>): Snapshot['nodes'] {
  const usages = new Map<string, NodeUsage>();
  for (const [name, { usage }] of records) if (usage) usages.set(name, usage);
  return usages;
}

/** What decides between two nodes that report one pod. */
export interface PodArbitration {
  readonly livePodUid: LivePodUid;
  /** By our wall clock. */
  readonly nowMs: number;
}

/** What pods use, by their namespaces and names; one that two nodes report counts once. */
export function podUsages(
  records: ReadonlyMap<string, NodeRecord>,
  arbitration: PodArbitration,
): HeldSnapshot['pods'] {
  const namespaces = new Map<string, Map<string, HeldUsage>>();
  for (const { pods } of records.values()) {
    for (const { usage } of pods.values()) {
      if (!usage) continue;
      const namespace = namespaces.get(usage.namespace) ?? new Map<string, HeldUsage>();
      if (namespace.size === 0) namespaces.set(usage.namespace, namespace);
      const other = namespace.get(usage.name);
      namespace.set(usage.name, other ? likelierOf(other, usage, arbitration) : usage);
    }
  }
  return namespaces;
}

/**
 * Of two nodes' reports on one pod, that of the node which itself told the live pod's UID: only kubelets that run a pod know it. A word
 * without a UID comes next, and one on another pod last. Where that decides nothing, the later counts, unless it is of the future.
 */
function likelierOf(a: HeldUsage, b: HeldUsage, { livePodUid, nowMs }: PodArbitration): HeldUsage {
  const liveUid = livePodUid(a.key);
  const difference = evidenceOf(b, liveUid) - evidenceOf(a, liveUid);
  if (difference !== 0) return difference > 0 ? b : a;
  const isAhead = a.timestampMs > nowMs;
  if (isAhead !== b.timestampMs > nowMs) return isAhead ? b : a;
  return b.timestampMs > a.timestampMs ? b : a;
}

function evidenceOf({ uid, isUidTold }: HeldUsage, liveUid: string | undefined): number {
  const isOfAnother = liveUid !== undefined && uid !== undefined && uid !== liveUid;
  if (isOfAnother) return 0;
  return isUidTold ? 2 : 1;
}
