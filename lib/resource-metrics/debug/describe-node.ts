import type { LiveNodes } from '#lib/resource-metrics/nodes/node-cache.ts';
import type { LivePods } from '#lib/resource-metrics/nodes/pod-cache.ts';
import type { ScrapeRecord, ScrapeRecords } from '#lib/resource-metrics/scrape/scrape-records.ts';
import { isStale, type MetricsSink } from '#lib/resource-metrics/sink/metrics-sink.ts';
import type { NodeRecord } from '#lib/resource-metrics/sink/node-record.ts';
import type { NodeUsage, Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';
import { isStuck, SHORTEST_WINDOW_MS, type UsageHistory } from '#lib/resource-metrics/sink/usage-history.ts';
import { formatDuration } from '#lib/time/duration.ts';
import {
  describeUsage,
  isoTime,
  type Reason,
  type RemediedReason,
  type UsageDescription,
  withRemedy,
} from './debug-response.ts';

/** What `/debug/nodes` returns for one node. */
export interface NodeDescription {
  readonly name: string;
  readonly served: boolean;
  readonly usage?: UsageDescription;
  /** Why it is not served. */
  readonly reason?: RemediedReason;
  readonly scrape?: ScrapeDescription;
  readonly held?: HeldDescription;
  /** The last minutes, oldest first. */
  readonly trend: NodeTrend;
}

/** The latest scrape of a node. */
interface ScrapeDescription {
  readonly startedAt: string;
  readonly durationSeconds: number;
  readonly address?: string;
  readonly endpoint?: string;
  readonly succeededAt?: string;
  readonly failure?: { readonly message: string; readonly since: string; readonly count: number };
  readonly ignored: readonly string[];
}

/** How much is held of a node. */
interface HeldDescription {
  readonly pods: number;
  readonly containers: number;
  /** Of CPU counters: the node's own and its containers'. */
  readonly readings: number;
  /** Whether a scrape was lost since its last response. */
  readonly stale: boolean;
}

/** Tells of one node all that is known here. */
export function describeNode(source: DebugSource, name: string, trend: NodeTrend): NodeDescription {
  const usage = source.nodes.get(name) && source.sink.snapshot.nodes.get(name);
  const reason = explainNode(source, name);
  const scrape = source.scrapes.get(name);
  const held = source.sink.held(name);
  return {
    name,
    served: reason === undefined,
    ...(usage && { usage: describeUsage(usage, [usage]) }),
    ...(reason && { reason: withRemedy(reason) }),
    ...(scrape && { scrape: describeScrape(scrape) }),
    ...(held && { held: describeHeld(held.record) }),
    trend,
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

function describeHeld(record: NodeRecord): HeldDescription {
  const { pods, history } = record;
  let containers = 0;
  let readings = history?.readings.length ?? 0;
  for (const pod of pods.values()) {
    containers += pod.containerCount;
    for (const held of pod.containers) readings += held.readings.length;
  }
  return { pods: pods.size, containers, readings, stale: isStale(record) };
}

/** Why a node is not served; `undefined` for one that is. */
function explainNode(source: DebugSource, name: string): Reason | undefined {
  const { nodes, sink } = source;
  if (!nodes.get(name)) {
    return nodes.isSynced
      ? {
          code: 'UnknownNode',
          message: `the API server knows no node "${name}", or --node-selector leaves it out`,
        }
      : { code: 'NodesNotListed', message: 'the nodes have not been listed yet' };
  }
  if (sink.snapshot.nodes.has(name)) return undefined;
  const obstacle = explainScrape(source, name);
  if (obstacle) return obstacle;
  const record = sink.held(name)?.record;
  if (!record?.history) {
    return {
      code: 'NodeUsageUnknown',
      message: `the kubelet of node "${name}" responds, but does not report what the node itself uses`,
    };
  }
  return explainHistory(record.history, { of: `node "${name}"`, record });
}

/** How many nodes' kubelets cannot be scraped now: a pod that nobody reports may run on one of them. */
export function countFailingNodes({ nodes, scrapes }: DebugSource): number {
  let count = 0;
  for (const { name } of nodes.values()) if (scrapes.get(name)?.failure) count++;
  return count;
}

/** Why nothing of a node can be served, whatever it is; `undefined` where its kubelet responds. */
export function explainScrape(
  { scrapes, sink }: Pick<DebugSource, 'scrapes'> & { readonly sink: Pick<MetricsSink, 'held'> },
  nodeName: string,
): Reason | undefined {
  const scrape = scrapes.get(nodeName);
  if (!scrape) {
    return { code: 'NotScrapedYet', message: `the kubelet of node "${nodeName}" has not been asked yet` };
  }
  if (scrape.failure) {
    const since = new Date(scrape.failure.sinceMs).toISOString();
    const code = scrape.failure.wasAsked ? 'NodeFailing' : 'NodeNotAsked';
    return { code, message: `${scrape.failure.message} (since ${since})` };
  }
  if (sink.held(nodeName)) return undefined;
  return {
    code: 'NotScrapedYet',
    message: `the response of node "${nodeName}" is waiting for those of the others`,
  };
}

/**
 * Why readings do not amount to a usage.
 *
 * @param of what was read, as in `container "app"`
 */
export function explainHistory(
  { readings, context }: UsageHistory,
  { of, record }: { readonly of: string; readonly record: NodeRecord },
): Reason {
  const [oldest, newest] = [readings[0], readings.at(-1)];
  const at = newest === undefined ? 'never' : `at ${new Date(newest.takenAtMs).toISOString()}`;
  if (isStuck({ context }, record)) {
    const forMs = Math.round((record.receivedAtMs - context.receivedAtMs) / 1000) * 1000;
    return {
      code: 'SamplingStopped',
      message: `the kubelet sampled ${of} last ${at} and has given that sample for ${formatDuration(forMs)}`,
    };
  }
  const spanMs = oldest && newest ? newest.takenAtMs - oldest.takenAtMs : 0;
  const held =
    readings.length > 1 ? `its readings lie ${formatDuration(spanMs)} apart` : `it was read once, ${at}`;
  return {
    code: 'WaitingForSecondReading',
    message: `${of} waits for another reading: ${held}, and CPU use takes two that lie ${formatDuration(SHORTEST_WINDOW_MS)} apart`,
  };
}

/** What is known of nodes and pods: from it follows why something is not served. */
export interface DebugSource {
  readonly nodes: LiveNodes;
  readonly pods: LivePods;
  readonly sink: Pick<MetricsSink, 'snapshot' | 'held' | 'heldNodeNames'>;
  readonly scrapes: Pick<ScrapeRecords, 'get'>;
}

/** One node's use over the last cycles, oldest first. */
type NodeTrend = readonly Pick<NodeUsage, 'timestampMs' | 'cpuNanocores' | 'memoryBytes'>[];

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
