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

/** All pods that run or are reported, those that are not served first. */
export function describePods(source: DebugSource, namespace: string | undefined): readonly PodDescription[] {
  const pods = new Map<string, PodName>();
  const reports = new Map<string, PodReport>();
  for (const nodeName of source.sink.heldNodeNames()) {
    const held = source.sink.held(nodeName);
    for (const [key, pod] of held?.record.pods ?? []) {
      const { namespace: podNamespace, name } = pod;
      if (!held || (namespace !== undefined && podNamespace !== namespace)) continue;
      pods.set(key, { namespace: podNamespace, name });
      const known = reports.get(key);
      if (!known || pod.uid === source.pods.get(podNamespace, name)?.uid) {
        reports.set(key, { nodeName, held, pod });
      }
    }
  }
  for (const { namespace: podNamespace, name } of source.pods.values()) {
    if (namespace !== undefined && podNamespace !== namespace) continue;
    pods.set(`${podNamespace}/${name}`, { namespace: podNamespace, name });
  }
  const failingNodes = countFailingNodes(source);
  return [...pods]
    .map(([key, pod]) => describe(source, pod, { report: reports.get(key), failingNodes }))
    .sort((a, b) => Number(a.served) - Number(b.served) || compareNames(a, b));
}

/** One pod, about which the API server is asked if no kubelet reports it. */
export async function describePod(
  source: DebugSource,
  { namespace, name }: PodName,
  lookup: Pick<PodLookup, 'find'>,
): Promise<DetailedPodDescription> {
  const reports = podReports(source, namespace, name);
  const failingNodes = countFailingNodes(source);
  const described = describe(source, { namespace, name }, { report: reports[0], failingNodes });
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
  { namespace, name }: PodName,
  { report, failingNodes }: { readonly report: PodReport | undefined; readonly failingNodes: number },
): PodDescription {
  const usage = servedPodUsage(source, namespace, name);
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

function compareNames(a: PodName, b: PodName): number {
  if (a.namespace !== b.namespace) return a.namespace < b.namespace ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
