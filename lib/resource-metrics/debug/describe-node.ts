import type { ScrapeRecord } from '#lib/resource-metrics/scrape/scrape-records.ts';
import { isStale } from '#lib/resource-metrics/sink/metrics-sink.ts';
import type { NodeRecord } from '#lib/resource-metrics/sink/node-record.ts';
import { describeUsage, isoTime, type UsageDescription } from './debug-response.ts';
import type { NodeTrend } from './node-trends.ts';
import { type RemediedReason, withRemedy } from './reason.ts';
import { type DebugSource, explainNode } from './why-node-not-served.ts';

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
export interface ScrapeDescription {
  readonly startedAt: string;
  readonly durationSeconds: number;
  readonly address?: string;
  readonly endpoint?: string;
  readonly succeededAt?: string;
  readonly failure?: { readonly message: string; readonly since: string; readonly count: number };
  readonly ignored: readonly string[];
}

/** How much is held of a node. */
export interface HeldDescription {
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
