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

/** What pods use, by their namespaces and names; one that two nodes tell of counts once. */
export function podUsages(
  records: ReadonlyMap<string, NodeRecord>,
  livePodUid: LivePodUid,
): HeldSnapshot['pods'] {
  const namespaces = new Map<string, Map<string, HeldUsage>>();
  for (const { pods } of records.values()) {
    for (const { usage } of pods.values()) {
      if (!usage) continue;
      const namespace = namespaces.get(usage.namespace) ?? new Map<string, HeldUsage>();
      if (namespace.size === 0) namespaces.set(usage.namespace, namespace);
      const other = namespace.get(usage.name);
      namespace.set(usage.name, other ? liveOf(other, usage, livePodUid) : usage);
    }
  }
  return namespaces;
}

/** Of two nodes' words on one pod, that on the pod which lives; where that can't be told, the later. */
function liveOf(a: HeldUsage, b: HeldUsage, livePodUid: LivePodUid): HeldUsage {
  const uid = livePodUid(a.namespace, a.name);
  if (uid !== undefined && a.uid !== b.uid) {
    if (a.uid === uid) return a;
    if (b.uid === uid) return b;
  }
  return b.timestampMs > a.timestampMs ? b : a;
}
