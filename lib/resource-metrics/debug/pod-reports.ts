import type { HeldNode } from '#lib/resource-metrics/sink/metrics-sink.ts';
import type { PodRecord } from '#lib/resource-metrics/sink/pod-record.ts';
import type { DebugSource } from './debug-source.ts';

/** What one node's kubelet said of one pod. */
export interface PodReport {
  readonly nodeName: string;
  readonly held: HeldNode;
  readonly pod: PodRecord;
}

/** The word of every node that reports a pod, that on the pod which lives first, then the latest. */
export function podReports(source: DebugSource, namespace: string, name: string): readonly PodReport[] {
  const uid = source.pods.get(namespace, name)?.uid;
  const reports: PodReport[] = [];
  for (const nodeName of source.sink.heldNodeNames()) {
    const held = source.sink.held(nodeName);
    const pod = held?.record.pods.get(`${namespace}/${name}`);
    if (held && pod) reports.push({ nodeName, held, pod });
  }
  const rank = ({ pod }: PodReport) => (pod.uid === uid ? 0 : 1);
  return reports.sort((a, b) => rank(a) - rank(b) || b.held.record.receivedAtMs - a.held.record.receivedAtMs);
}
