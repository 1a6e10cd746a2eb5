import type { HeldNode } from '#lib/resource-metrics/sink/metrics-sink.ts';
import type { PodRecord } from '#lib/resource-metrics/sink/pod-record.ts';

/** What one node's kubelet said of one pod. */
export interface PodReport {
  readonly nodeName: string;
  readonly held: HeldNode;
  readonly pod: PodRecord;
}
