import type { LiveNodes } from '#lib/resource-metrics/nodes/live-nodes.ts';
import type { LivePods } from '#lib/resource-metrics/pods/live-pods.ts';
import type { ScrapeRecords } from '#lib/resource-metrics/scrape/scrape-records.ts';
import type { MetricsSink } from '#lib/resource-metrics/sink/metrics-sink.ts';

/** What is known of nodes and pods: from it follows why something is not served. */
export interface DebugSource {
  readonly nodes: LiveNodes;
  readonly pods: LivePods;
  readonly sink: Pick<MetricsSink, 'snapshot' | 'held' | 'heldNodeNames'>;
  readonly scrapes: Pick<ScrapeRecords, 'get'>;
}
