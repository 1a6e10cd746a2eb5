import type { MetricsSource } from '#lib/resource-metrics/api/metrics-types.ts';
import type { LiveNode } from '#lib/resource-metrics/nodes/node-cache.ts';
import type { LivePod } from '#lib/resource-metrics/nodes/pod-cache.ts';
import type { NodeUsage, PodUsage, Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';

const T0_MS = Date.UTC(2026, 10, 21, 8, 50, 30);
const MIB = 1024 * 1024;

/** A ready node without labels, with changes. */
export function liveNode(name: string, changes: Partial<LiveNode> = {}): LiveNode {
  return {
    name,
    labels: {},
    addresses: [],
    kubeletPort: undefined,
    resourceMetricsPath: undefined,
    ...changes,
  };
}

/** A running pod without labels whose UID is `uid-NAME`, with changes. */
export function livePod(namespace: string, name: string, changes: Partial<LivePod> = {}): LivePod {
  return { namespace, name, uid: `uid-${name}`, labels: {}, ...changes };
}

/** A node that uses 250 millicores and 512 MiB over 15 s, with changes. */
export function nodeUsage(name: string, changes: Partial<NodeUsage> = {}): NodeUsage {
  return {
    name,
    timestampMs: T0_MS - 5_000,
    windowMs: 15_000,
    cpuNanocores: 250_000_000,
    memoryBytes: 512 * MIB,
    ...changes,
  };
}

/** A pod with one container `app` that uses 50 millicores and 24 MiB over 15 s, with changes. */
export function podUsage(namespace: string, name: string, changes: Partial<PodUsage> = {}): PodUsage {
  return {
    key: `${namespace}/${name}`,
    namespace,
    name,
    uid: `uid-${name}`,
    timestampMs: T0_MS - 5_000,
    windowMs: 15_000,
    containers: [{ name: 'app', cpuNanocores: 50_000_000, memoryBytes: 24 * MIB }],
    ...changes,
  };
}

/** A snapshot of the usages, published at 2026-11-21 08:50:30 UTC. */
export function snapshotOf(usages: {
  readonly nodes?: readonly NodeUsage[];
  readonly pods?: readonly PodUsage[];
  readonly publishedAtMs?: number;
}): Snapshot {
  const { nodes = [], pods = [], publishedAtMs = T0_MS } = usages;
  const namespaces = Map.groupBy(pods, ({ namespace }) => namespace);
  return {
    sequence: 1,
    publishedAtMs,
    nodes: new Map(nodes.map((node) => [node.name, node])),
    pods: new Map(
      namespaces.entries().map(([namespace, own]) => [namespace, new Map(own.map((pod) => [pod.name, pod]))]),
    ),
  };
}

/** The served usages and the live objects; specs change both while they are read. */
export class FakeMetricsSource implements MetricsSource {
  current: Snapshot = snapshotOf({});
  readonly liveNodes = new Map<string, LiveNode>();
  readonly livePods = new Map<string, LivePod>();

  snapshot(): Snapshot {
    return this.current;
  }

  readonly nodes = {
    isSynced: true,
    revision: Number.NaN, // equals no revision, so readers always reload
    get: (name: string) => this.liveNodes.get(name),
    values: () => this.liveNodes.values(),
  };

  readonly pods = {
    isSynced: true,
    revision: Number.NaN, // equals no revision, so readers always reload
    get: (namespace: string, name: string) => this.livePods.get(`${namespace}/${name}`),
    find: (key: string) => this.livePods.get(key),
    values: () => this.livePods.values(),
  };

  /** Serves the usages and adds their objects to the live ones; objects that are already live stay unchanged. */
  serve(...usages: readonly (NodeUsage | PodUsage)[]): void {
    const nodes = usages.filter((usage) => !('namespace' in usage)) as NodeUsage[];
    const pods = usages.filter((usage) => 'namespace' in usage);
    this.current = snapshotOf({ nodes, pods });
    for (const { name } of nodes) {
      if (!this.liveNodes.has(name)) this.liveNodes.set(name, liveNode(name));
    }
    for (const { namespace, name } of pods) {
      const key = `${namespace}/${name}`;
      if (!this.livePods.has(key)) this.livePods.set(key, livePod(namespace, name));
    }
  }
}
