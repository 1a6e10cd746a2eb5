import { formatCpuNanocores, formatMemoryBytes } from '#lib/kubernetes/quantity.ts';
import type { LiveNode, LiveNodes } from '#lib/resource-metrics/nodes/node-cache.ts';
import type { LivePods } from '#lib/resource-metrics/nodes/pod-cache.ts';
import type { ScrapeRecord, ScrapeRecords } from '#lib/resource-metrics/scrape/scrape-records.ts';
import { isStale, type MetricsSink } from '#lib/resource-metrics/sink/metrics-sink.ts';
import type { NodeRecord } from '#lib/resource-metrics/sink/node-record.ts';
import type { NodeUsage, Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';
import { isStuck, type UsageHistory } from '#lib/resource-metrics/sink/usage-history.ts';
import { formatDuration } from '#lib/time/duration.ts';
import {
  describeUsage,
  isoTime,
  type Reason,
  type RemediedReason,
  type UsageDescription,
  withRemedy,
} from './debug-response.ts';

/** The item of a node in `/debug/nodes`. */
export interface NodeDescription {
  readonly name: string;
  readonly served: boolean;
  readonly usage?: UsageDescription;
  /** What its pods may use, as in its status. */
  readonly allocatable?: { readonly cpu?: string; readonly memory?: string };
  /** Why it is not served. */
  readonly reason?: RemediedReason;
  readonly scrape?: ScrapeDescription;
  readonly cached?: CachedDescription;
  /** The last minutes, oldest first. */
  readonly trend: NodeTrend;
}

interface ScrapeDescription {
  readonly startedAt: string;
  readonly durationSeconds: number;
  readonly address?: string;
  readonly endpoint?: string;
  readonly succeededAt?: string;
  readonly failure?: { readonly message: string; readonly since: string; readonly count: number };
  readonly ignored: readonly string[];
}

/** Numbers of cached objects of a node. */
interface CachedDescription {
  readonly pods: number;
  readonly containers: number;
  /** Readings of CPU counters, of the node and its containers. */
  readonly readings: number;
  /** Whether a scrape failed since the last response. */
  readonly stale: boolean;
}

export function describeNode(source: DebugSource, name: string, trend: NodeTrend): NodeDescription {
  const node = source.nodes.get(name);
  const usage = node && source.sink.snapshot.nodes.get(name);
  const reason = explainNode(source, name);
  const scrape = source.scrapes.get(name);
  const cached = source.sink.cachedNode(name);
  return {
    name,
    served: reason === undefined,
    ...(usage && { usage: describeUsage(usage, [usage]) }),
    ...(node && describeAllocatable(node)),
    ...(reason && { reason: withRemedy(reason) }),
    ...(scrape && { scrape: describeScrape(scrape) }),
    ...(cached && { cached: describeCached(cached.record) }),
    trend,
  };
}

function describeAllocatable({
  allocatableMillicores: millicores,
  allocatableMemoryKib: kib,
}: LiveNode): Pick<NodeDescription, 'allocatable'> {
  if (millicores === undefined && kib === undefined) return {};
  return {
    allocatable: {
      ...(millicores !== undefined && { cpu: formatCpuNanocores(millicores * 1e6) }),
      ...(kib !== undefined && { memory: formatMemoryBytes(kib * 1024) }),
    },
  };
}

function describeScrape(scrape: ScrapeRecord): ScrapeDescription {
  const { startedAtMs, durationMs, address, endpoint, succeededAtMs, failure, ignored } = scrape;
  return {
    startedAt: isoTime(startedAtMs),
    durationSeconds: Math.round(durationMs) / 1000,
    ...(address !== undefined && { address }),
    ...(endpoint !== undefined && { endpoint }),
    ...(succeededAtMs !== undefined && { succeededAt: isoTime(succeededAtMs) }),
    ...(failure && {
      failure: { message: failure.message, since: isoTime(failure.sinceMs), count: failure.count },
    }),
    ignored,
  };
}

function describeCached(record: NodeRecord): CachedDescription {
  const { pods, history } = record;
  let containers = 0;
  let readings = history?.readings.length ?? 0;
  for (const pod of pods.values()) {
    containers += pod.containerCount;
    for (const container of pod.containers) readings += container.readings.length;
  }
  return { pods: pods.size, containers, readings, stale: isStale(record) };
}

/** Explains why a node is not served; `undefined` if it is. */
function explainNode(source: DebugSource, name: string): Reason | undefined {
  const { nodes, sink } = source;
  if (!nodes.get(name)) {
    return nodes.isSynced
      ? {
          code: 'UnknownNode',
          message: `the API server has no node "${name}", or --node-selector does not select it`,
        }
      : { code: 'NodesNotListed', message: 'the nodes have not been listed yet' };
  }
  if (sink.snapshot.nodes.has(name)) return undefined;
  const scrapeReason = explainScrape(source, name);
  if (scrapeReason) return scrapeReason;
  const record = sink.cachedNode(name)?.record;
  if (!record?.history) {
    return {
      code: 'NodeUsageUnknown',
      message: `the kubelet of node "${name}" responds, but does not report the usage of the node`,
    };
  }
  return explainHistory(record.history, { of: `node "${name}"`, record });
}

/** Counts nodes whose kubelet cannot be scraped now; pods without reports may run on them. */
export function countFailingNodes({ nodes, scrapes }: DebugSource): number {
  let count = 0;
  for (const { name } of nodes.values()) if (scrapes.get(name)?.failure) count++;
  return count;
}

/** Explains why nothing of a node can be served; `undefined` if its kubelet responds. */
export function explainScrape(
  { scrapes, sink }: Pick<DebugSource, 'scrapes'> & { readonly sink: Pick<MetricsSink, 'cachedNode'> },
  nodeName: string,
): Reason | undefined {
  const scrape = scrapes.get(nodeName);
  if (!scrape) {
    return { code: 'NotScrapedYet', message: `the kubelet of node "${nodeName}" has not been scraped yet` };
  }
  if (scrape.failure) {
    const since = new Date(scrape.failure.sinceMs).toISOString();
    const code = scrape.failure.wasScraped ? 'NodeFailing' : 'NodeScrapeDelayed';
    return { code, message: `${scrape.failure.message} (since ${since})`, node: nodeName };
  }
  if (sink.cachedNode(nodeName)) return undefined;
  return {
    code: 'NotScrapedYet',
    message: `the response of node "${nodeName}" will be published with those of other nodes`,
  };
}

/**
 * Explains why readings do not yield a usage.
 *
 * @param of subject of the readings, as in `container "app"`
 */
export function explainHistory(
  { readings }: UsageHistory,
  { of, record }: { readonly of: string; readonly record: NodeRecord },
): Reason {
  const [oldest, newest] = [readings[0], readings.at(-1)];
  const at = newest === undefined ? 'no time' : new Date(newest.takenAtMs).toISOString();
  const { receivedAtMs } = record.response;
  if (newest && isStuck({ readings }, receivedAtMs)) {
    const forMs = Math.round((receivedAtMs - newest.response.receivedAtMs) / 1000) * 1000;
    return {
      code: 'SamplingStopped',
      message: `the last sample of ${of} was taken at ${at}; the kubelet has returned it for ${formatDuration(forMs)}`,
    };
  }
  const spanMs = oldest && newest ? newest.takenAtMs - oldest.takenAtMs : 0;
  const available =
    readings.length > 1
      ? `its readings are ${formatDuration(spanMs)} apart`
      : `it has one reading, taken at ${at}`;
  return {
    code: 'WaitingForSecondReading',
    message: `${of} waits for another reading: ${available}; CPU usage requires two readings at least ${formatDuration(record.minWindowMs)} apart`,
  };
}

/** State of nodes and pods that the endpoints explain. */
export interface DebugSource {
  readonly nodes: LiveNodes;
  readonly pods: LivePods;
  readonly sink: Pick<MetricsSink, 'snapshot' | 'cachedNode' | 'cachedNodeNames'>;
  readonly scrapes: Pick<ScrapeRecords, 'get'>;
}

/** Usage of one node over the last cycles, oldest first. */
type NodeTrend = readonly Pick<NodeUsage, 'timestampMs' | 'cpuNanocores' | 'memoryBytes'>[];

/** Ten minutes at the default resolution of 15 s. */
const MAX_TREND_LENGTH = 40;

/** Retains a limited number of usages per node. */
export class NodeTrends {
  readonly #trends = new Map<string, NodeTrend>();

  /** Records the usages served after a cycle; skips those recorded already. */
  record({ nodes }: Pick<Snapshot, 'nodes'>): void {
    for (const [name, { timestampMs, cpuNanocores, memoryBytes }] of nodes) {
      const trend = this.of(name);
      if (trend.at(-1)?.timestampMs === timestampMs) continue;
      this.#trends.set(name, [
        ...trend.slice(1 - MAX_TREND_LENGTH),
        { timestampMs, cpuNanocores, memoryBytes },
      ]);
    }
  }

  of(nodeName: string): NodeTrend {
    return this.#trends.get(nodeName) ?? [];
  }

  /** Removes nodes that are no longer live. */
  retain(isLive: (nodeName: string) => boolean): void {
    for (const nodeName of this.#trends.keys()) if (!isLive(nodeName)) this.#trends.delete(nodeName);
  }
}
