import { type DebugResponse, describeUsage, isoTime, type UsageDescription } from './debug-response.ts';
import { countFailingNodes, type DebugSource } from './describe-node.ts';
import type { PodLookup } from './pod-lookup.ts';
import type { PodReport } from './pod-report.ts';
import { type RemediedReason, withRemedy } from './reason.ts';
import { type KnownPod, knownPods, type PodName, type PodsWanted, podReports } from './reported-pods.ts';
import {
  explainLookedUpPod,
  explainReportedPod,
  explainUnreportedPod,
  servedPodUsage,
} from './why-pod-not-served.ts';

/** What `/debug/pods` returns for one pod. */
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

/** What it returns for a pod that is asked for by its name. */
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

/** All pods that run or are reported, those that are not served first; as many of them as asked for are described. */
export async function describePods(
  source: DebugSource,
  wanted: PodsWanted,
): Promise<DebugResponse<PodDescription>> {
  const known = await knownPods(source, wanted);
  const failingNodes = countFailingNodes(source);
  const items: PodDescription[] = [];
  for (const pod of known.slice(0, wanted.limit)) {
    items.push(describe(source, pod, failingNodes));
    if (wanted.slices.sliceIsSpent()) await wanted.slices.yieldToEventLoop(wanted.signal);
  }
  return { total: known.length, served: known.filter(({ usage }) => usage).length, items };
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
