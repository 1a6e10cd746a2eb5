import type { NodeUsage, Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';

/** One node's use over the last cycles, oldest first. */
export type NodeTrend = readonly Pick<NodeUsage, 'timestampMs' | 'cpuNanocores' | 'memoryBytes'>[];

/** At the usual 15 s the last ten minutes. */
const LONGEST_TREND = 40;

/** Remembers what nodes used in the last cycles: so many points a node, whatever the cluster does. */
export class NodeTrends {
  readonly #trends = new Map<string, NodeTrend>();

  /** Takes in what is served at the end of a cycle; a usage that is served again adds nothing. */
  record({ nodes }: Pick<Snapshot, 'nodes'>): void {
    for (const [name, { timestampMs, cpuNanocores, memoryBytes }] of nodes) {
      const trend = this.of(name);
      if (trend.at(-1)?.timestampMs === timestampMs) continue;
      this.#trends.set(name, [...trend.slice(1 - LONGEST_TREND), { timestampMs, cpuNanocores, memoryBytes }]);
    }
  }

  of(nodeName: string): NodeTrend {
    return this.#trends.get(nodeName) ?? [];
  }

  /** Drops the trends of nodes that are gone. */
  retain(isLive: (nodeName: string) => boolean): void {
    for (const nodeName of this.#trends.keys()) if (!isLive(nodeName)) this.#trends.delete(nodeName);
  }
}
