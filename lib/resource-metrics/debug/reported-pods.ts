import type { TimeSlices } from '#lib/concurrency/time-slices.ts';
import type { PodUsage } from '#lib/resource-metrics/sink/snapshot.ts';
import type { DebugSource } from './describe-node.ts';
import type { PodReport } from './pod-report.ts';
import { servedPodUsage } from './why-pod-not-served.ts';

/** What a pod is called. */
export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** A pod of which it is known whether it is served, and no more. */
export interface KnownPod extends PodName {
  /** Where it is served. */
  readonly usage: PodUsage | undefined;
  readonly report: PodReport | undefined;
}

/** Of which namespace, how many of them, in which slices, and for how long anybody waits for them. */
export interface PodsWanted {
  /** `undefined` for all. */
  readonly namespace: string | undefined;
  readonly limit: number;
  readonly slices: TimeSlices;
  readonly signal: AbortSignal;
}

/** All pods that run or are reported: those that are not served first, then by namespace and name. */
export async function knownPods(source: DebugSource, wanted: PodsWanted): Promise<readonly KnownPod[]> {
  const { slices, signal } = wanted;
  const { snapshot } = source.sink;
  const names = new Map<string, PodName>();
  const reports = await bestReports(source, wanted);
  for (const [key, { pod }] of reports) names.set(key, pod);
  for (const pod of source.pods.values()) {
    if (isWanted(pod, wanted)) names.set(`${pod.namespace}/${pod.name}`, pod);
    if (slices.sliceIsSpent()) await slices.yieldToEventLoop(signal);
  }
  const known: KnownPod[] = [];
  for (const [key, { namespace, name }] of names) {
    const usage = servedPodUsage(source, { namespace, name }, snapshot);
    known.push({ namespace, name, usage, report: reports.get(key) });
    if (slices.sliceIsSpent()) await slices.yieldToEventLoop(signal);
  }
  return await inResponseOrder(known, wanted);
}

async function inResponseOrder(
  known: readonly KnownPod[],
  { slices, signal }: PodsWanted,
): Promise<readonly KnownPod[]> {
  const groups = Map.groupBy(known, ({ namespace, usage }) => `${usage ? 1 : 0}/${namespace}`);
  const sorted: KnownPod[] = [];
  for (const group of [...groups.keys()].sort()) {
    const pods = groups.get(group) ?? [];
    for (const pod of pods.sort(({ name: a }, { name: b }) => (a < b ? -1 : 1))) sorted.push(pod);
    if (slices.sliceIsSpent(pods.length)) await slices.yieldToEventLoop(signal);
  }
  return sorted;
}

/** By pod, what is reported of it; on the pod that lives, if any node does. */
async function bestReports(source: DebugSource, wanted: PodsWanted): Promise<ReadonlyMap<string, PodReport>> {
  const { slices, signal } = wanted;
  const reports = new Map<string, PodReport>();
  for (const nodeName of source.sink.heldNodeNames()) {
    const held = source.sink.held(nodeName);
    for (const [key, pod] of held?.record.pods ?? []) {
      if (slices.sliceIsSpent()) await slices.yieldToEventLoop(signal);
      if (!held || !isWanted(pod, wanted)) continue;
      const isLive = () => pod.uid === source.pods.get(pod.namespace, pod.name)?.uid;
      if (!reports.has(key) || isLive()) reports.set(key, { nodeName, held, pod });
    }
  }
  return reports;
}

function isWanted({ namespace }: PodName, wanted: PodsWanted): boolean {
  return wanted.namespace === undefined || namespace === wanted.namespace;
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
