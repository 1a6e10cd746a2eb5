import type { LiveNodes } from '#lib/resource-metrics/nodes/node-cache.ts';
import type { LivePods } from '#lib/resource-metrics/nodes/pod-cache.ts';
import type { Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';

/** The name of the group that autoscalers and `kubectl top` read. */
export const METRICS_GROUP = 'metrics.k8s.io';

/** What is served, and what it is compared with. */
export interface MetricsSource {
  /** What is known of usage at this moment. */
  snapshot(): Snapshot;
  readonly nodes: LiveNodes;
  readonly pods: LivePods;
  /** What has a column beside CPU and memory. */
  readonly extraResources?: readonly string[];
}
