import type { PodUsage } from '#lib/resource-metrics/sink/snapshot.ts';
import { endsTurn, nextTurn } from '#lib/time/turn.ts';
import type { DebugAnswer } from './debug-answer.ts';
import type { DebugSource } from './debug-source.ts';
import { describeUsage, isoTime, type UsageDescription } from './describe-usage.ts';
import { explainLookedUpPod } from './explain-looked-up-pod.ts';
import { countFailingNodes } from './explain-node.ts';
import { explainReportedPod, explainUnreportedPod, servedPodUsage } from './explain-pod.ts';
import type { PodLookup } from './pod-lookup.ts';
import { type PodReport, podReports } from './pod-reports.ts';
import { type RemediedReason, withRemedy } from './reason.ts';

/** What `/debug/pods` answers for one pod. */
export interface PodDescription {
  readonly namespace: string;
  readonly name: string;
  readonly served: boolean;
  /** Whose kubelet reports it. */
  readonly node?: string;
  readonly usage?: UsageDescription;
  /** Why it is not served. */
  readonly reason?: RemediedReason;
}

/** What it answers for a pod that is asked for by its name. */
export interface DetailedPodDescription extends PodDescription {
  /** Of the pod that lives. */
  readonly uid?: string;
  /** What each node said of it. */
  readonly reports: readonly ReportDescription[];
}

/** What one node's kubelet said of a pod. */
export interface ReportDescription {
  readonly node: string;
  readonly uid?: string;
  readonly incompleteBecause?: string;
  readonly containers: readonly {
    readonly name: string;
    readonly readings: number;
    readonly lastReadAt?: string;
    readonly usage?: UsageDescription;
  }[];
}

type PodName = Pick<PodDescription, 'namespace' | 'name'>;

/** A pod before it is described. */
interface KnownPod extends PodName {
  readonly usage: PodUsage | undefined;
  readonly report: PodReport | undefined;
}

/** Of which namespace, how many of them, and for how long anybody waits for them. */
export interface PodsWanted {
  /** `undefined` for all. */
  readonly namespace: string | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** All pods that run or are reported, those that are not served first; as many of them as asked for are described. */
export async function describePods(
  source: DebugSource,
  wanted: PodsWanted,
): Promise<DebugAnswer<PodDescription>> {
  const known = await knownPods(source, wanted);
  const failingNodes = countFailingNodes(source);
  const items: PodDescription[] = [];
  for (const pod of known.slice(0, wanted.limit)) {
    items.push(describe(source, pod, failingNodes));
    if (endsTurn()) await nextTurn(wanted.signal);
  }
  return { total: known.length, served: known.filter(({ usage }) => usage).length, items };
}

async function knownPods(source: DebugSource, wanted: PodsWanted): Promise<readonly KnownPod[]> {
  const { snapshot } = source.sink;
  const names = new Map<string, PodName>();
  const reports = await bestReports(source, wanted);
  for (const [key, { pod }] of reports) names.set(key, pod);
  for (const pod of source.pods.values()) {
    if (isWanted(pod, wanted)) names.set(`${pod.namespace}/${pod.name}`, pod);
    if (endsTurn()) await nextTurn(wanted.signal);
  }
  const known: KnownPod[] = [];
  for (const [key, { namespace, name }] of names) {
    const usage = servedPodUsage(source, { namespace, name }, snapshot);
    known.push({ namespace, name, usage, report: reports.get(key) });
    if (endsTurn()) await nextTurn(wanted.signal);
  }
  return await inAnswerOrder(known, wanted.signal);
}

/** Those that are not served first, then by namespace and name. */
async function inAnswerOrder(known: readonly KnownPod[], signal: AbortSignal): Promise<readonly KnownPod[]> {
  const groups = Map.groupBy(known, ({ namespace, usage }) => `${usage ? 1 : 0}/${namespace}`);
  const sorted: KnownPod[] = [];
  for (const group of [...groups.keys()].sort()) {
    const pods = groups.get(group) ?? [];
    for (const pod of pods.sort(({ name: a }, { name: b }) => (a < b ? -1 : 1))) sorted.push(pod);
    if (endsTurn(pods.length)) await nextTurn(signal);
  }
  return sorted;
}

/** By pod, what is reported of it; on the pod that lives, if any node does. */
async function bestReports(source: DebugSource, wanted: PodsWanted): Promise<ReadonlyMap<string, PodReport>> {
  const reports = new Map<string, PodReport>();
  for (const nodeName of source.sink.heldNodeNames()) {
    const held = source.sink.held(nodeName);
    for (const [key, pod] of held?.record.pods ?? []) {
      if (endsTurn()) await nextTurn(wanted.signal);
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

/** One pod, about which the API server is asked if no kubelet reports it. */
export async function describePod(
  source: DebugSource,
  { namespace, name }: PodName,
  lookup: Pick<PodLookup, 'find'>,
): Promise<DetailedPodDescription> {
  const reports = podReports(source, namespace, name);
  const failingNodes = countFailingNodes(source);
  const usage = servedPodUsage(source, { namespace, name });
  const described = describe(source, { namespace, name, usage, report: reports[0] }, failingNodes);
  const uid = source.pods.get(namespace, name)?.uid;
  const isUnknown = !described.served && reports.length === 0;
  const reason = isUnknown ? explainLookedUpPod(source, await lookup.find(namespace, name)) : undefined;
  return {
    ...described,
    ...(reason && { reason: withRemedy(reason) }),
    ...(uid !== undefined && { uid }),
    reports: reports.map(describeReport),
  };
}

function describe(
  source: DebugSource,
  { namespace, name, usage, report }: KnownPod,
  failingNodes: number,
): PodDescription {
  const node = report && { node: report.nodeName };
  if (usage) {
    return { namespace, name, served: true, ...node, usage: describeUsage(usage, usage.containers) };
  }
  const reason = report
    ? explainReportedPod(source, { namespace, name }, report)
    : explainUnreportedPod(source, { namespace, name }, failingNodes);
  return { namespace, name, served: false, ...node, reason: withRemedy(reason) };
}

function describeReport({ nodeName, pod }: PodReport): ReportDescription {
  return {
    node: nodeName,
    ...(pod.uid !== undefined && { uid: pod.uid }),
    ...(pod.incompleteBecause !== undefined && { incompleteBecause: pod.incompleteBecause }),
    containers: pod.containers.map(({ name, readings, usage }) => {
      const newest = readings.at(-1);
      return {
        name,
        readings: readings.length,
        ...(newest && { lastReadAt: isoTime(newest.takenAtMs) }),
        ...(usage && { usage: describeUsage(usage, [usage]) }),
      };
    }),
  };
}
