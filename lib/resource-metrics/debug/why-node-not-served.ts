import type { LiveNodes } from '#lib/resource-metrics/nodes/node-cache.ts';
import type { LivePods } from '#lib/resource-metrics/nodes/pod-cache.ts';
import type { ScrapeRecords } from '#lib/resource-metrics/scrape/scrape-records.ts';
import type { MetricsSink } from '#lib/resource-metrics/sink/metrics-sink.ts';
import type { NodeRecord } from '#lib/resource-metrics/sink/node-record.ts';
import { isStuck, SHORTEST_WINDOW_MS, type UsageHistory } from '#lib/resource-metrics/sink/usage-history.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { Reason } from './reason.ts';

/** Why a node is not served; `undefined` for one that is. */
export function explainNode(source: DebugSource, name: string): Reason | undefined {
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
