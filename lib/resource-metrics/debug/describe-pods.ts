import type { TimeSlices } from '#lib/concurrency/event-loop.ts';
import { findLivePod } from '#lib/resource-metrics/api/pod-metrics-resource.ts';
import type { CachedNode } from '#lib/resource-metrics/sink/metrics-sink.ts';
import type { PodRecord } from '#lib/resource-metrics/sink/pod-record.ts';
import type { PodUsage, Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';
import {
  type DebugResponse,
  describeUsage,
  isoTime,
  type Reason,
  type RemediedReason,
  type UsageDescription,
  withRemedy,
} from './debug-response.ts';
import { countFailingNodes, type DebugSource, explainHistory, explainScrape } from './describe-node.ts';
import type { PodFacts, PodLookup } from './pod-lookup.ts';

/** The item of a pod in `/debug/pods`. */
export interface PodDescription {
  readonly namespace: string;
  readonly name: string;
  readonly served: boolean;
  /** The node whose kubelet reports it. */
  readonly node?: string;
  readonly usage?: UsageDescription;
  /** Why it is not served. */
  readonly reason?: RemediedReason;
}

/** The item of a pod selected by name. */
export interface DetailedPodDescription extends PodDescription {
  /** Of the live pod. */
  readonly uid?: string;
  /** One for each node that reports it. */
  readonly reports: readonly ReportDescription[];
}

interface ReportDescription {
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

/** Describes running or reported pods, those that are not served first, up to the limit. */
export async function describePods(
  source: DebugSource,
  selection: PodSelection,
): Promise<DebugResponse<PodDescription>> {
  const pods = await listPods(source, selection);
  const failingNodes = countFailingNodes(source);
  const items: PodDescription[] = [];
  for (const pod of pods.slice(0, selection.limit)) {
    items.push(describe(source, pod, failingNodes));
    if (selection.slices.isSliceSpent()) await selection.slices.yieldToEventLoop(selection.signal);
  }
  return { total: pods.length, served: pods.filter(({ usage }) => usage).length, items };
}

/** Describes one pod; looks it up at the API server if no kubelet reports it. */
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
  { namespace, name, usage, report }: ListedPod,
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

/** Finds the served usage of a pod. */
function servedPodUsage(
  source: DebugSource,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { pods }: Snapshot = source.sink.snapshot,
): PodUsage | undefined {
  const usage = pods.get(namespace)?.get(name);
  return usage && findLivePod(source, usage) && usage;
}

/** Explains why a pod that a kubelet reported is not served. */
function explainReportedPod(
  source: DebugSource,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { nodeName, cached, pod }: PodReport,
): Reason {
  const live = source.pods.get(namespace, name);
  const scrapeReason = explainScrape(source, nodeName);
  if (!live) return explainNotLive(source, nodeName);
  if (pod.uid !== undefined && pod.uid !== live.uid) {
    return {
      code: 'ReplacedPod',
      message: `node "${nodeName}" still reports a previous pod of this name with UID ${pod.uid}; the live pod has UID ${live.uid}`,
    };
  }
  if (pod.incompleteBecause !== undefined) {
    return {
      code: 'IncompletePod',
      message: `according to node "${nodeName}", ${pod.incompleteBecause}, so a sum would be too small`,
    };
  }
  if (scrapeReason) return scrapeReason;
  if (pod.containerCount === 0) {
    return { code: 'NoContainers', message: `node "${nodeName}" reports no container of this pod` };
  }
  for (const history of pod.containers) {
    const container = history.name;
    if (!history.usage)
      return explainHistory(history, { of: `container "${container}"`, record: cached.record });
  }
  return {
    code: 'NotPublishedYet',
    message: `the report of node "${nodeName}" is complete and is about to be published`,
  };
}

/** Explains why a pod without a report is not served. */
function explainUnreportedPod(
  source: DebugSource,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  failingNodes: number,
): Reason {
  if (!source.pods.get(namespace, name) && !source.pods.isSynced) return NOT_LISTED;
  const nodes = failingNodes === 1 ? 'the node' : `one of the ${failingNodes} nodes`;
  const hint = failingNodes === 0 ? '' : `; it may run on ${nodes} that cannot be scraped`;
  return {
    code: 'NotReported',
    message: `none of the kubelets that responded reports this pod${hint}. To find its node, query with both namespace and name`,
  };
}

const NOT_LISTED: Reason = { code: 'PodsNotListed', message: 'the running pods have not been listed yet' };

function explainNotLive({ pods }: DebugSource, nodeName: string): Reason {
  if (!pods.isSynced) return NOT_LISTED;
  return {
    code: 'NotRunning',
    message: `node "${nodeName}" reports this pod, but the API server lists no running pod of this name`,
  };
}

/** Explains why a pod without a report is not served, from its state at the API server. */
function explainLookedUpPod(source: DebugSource, facts: PodFacts): Reason {
  if (facts.kind === 'absent')
    return { code: 'NoSuchPod', message: 'the API server has no pod of this name' };
  if (facts.kind === 'unknown') {
    return {
      code: 'LookupFailed',
      message: `none of the kubelets that responded reports this pod, and ${facts.because}`,
    };
  }
  const { nodeName, phase, startedAtMs } = facts;
  if (nodeName === undefined)
    return { code: 'NotScheduled', message: 'the pod is not scheduled to a node yet' };
  if (phase !== 'Running') {
    return { code: 'NotRunning', message: `the pod is on node "${nodeName}", and its phase is ${phase}` };
  }
  if (!source.nodes.get(nodeName)) {
    return {
      code: 'UnknownNode',
      message: `the pod runs on node "${nodeName}", which the API server does not list or --node-selector does not select`,
    };
  }
  const scrapeReason = explainScrape(source, nodeName);
  if (scrapeReason) return scrapeReason;
  const scrapedAtMs = source.scrapes.get(nodeName)?.startedAtMs ?? 0;
  if (startedAtMs !== undefined && startedAtMs >= scrapedAtMs - 1000) {
    const [started, scraped] = [startedAtMs, scrapedAtMs].map((ms) => new Date(ms).toISOString());
    return {
      code: 'NotReportedYet',
      message: `the pod started at ${started}, and the last scrape of node "${nodeName}" started at ${scraped}`,
    };
  }
  return {
    code: 'NotReported',
    message: `the pod runs on node "${nodeName}", whose kubelet responds but does not report the pod`,
  };
}

interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** A pod before it is described. */
interface ListedPod extends PodName {
  /** If it is served. */
  readonly usage: PodUsage | undefined;
  readonly report: PodReport | undefined;
}

/** Selects pods, and paces the work on them. */
export interface PodSelection {
  /** `undefined` for all. */
  readonly namespace: string | undefined;
  readonly limit: number;
  readonly slices: TimeSlices;
  readonly signal: AbortSignal;
}

/** Lists running or reported pods, those that are not served first, then by namespace and name. */
async function listPods(source: DebugSource, selection: PodSelection): Promise<readonly ListedPod[]> {
  const { slices, signal } = selection;
  const { snapshot } = source.sink;
  const names = new Map<string, PodName>();
  const reports = await bestReports(source, selection);
  for (const [key, { pod }] of reports) names.set(key, pod);
  for (const pod of source.pods.values()) {
    if (isSelected(pod, selection)) names.set(`${pod.namespace}/${pod.name}`, pod);
    if (slices.isSliceSpent()) await slices.yieldToEventLoop(signal);
  }
  const pods: ListedPod[] = [];
  for (const [key, { namespace, name }] of names) {
    const usage = servedPodUsage(source, { namespace, name }, snapshot);
    pods.push({ namespace, name, usage, report: reports.get(key) });
    if (slices.isSliceSpent()) await slices.yieldToEventLoop(signal);
  }
  return await sortPods(pods, selection);
}

async function sortPods(
  unsorted: readonly ListedPod[],
  { slices, signal }: PodSelection,
): Promise<readonly ListedPod[]> {
  const groups = Map.groupBy(unsorted, ({ namespace, usage }) => `${usage ? 1 : 0}/${namespace}`);
  const sorted: ListedPod[] = [];
  for (const group of [...groups.keys()].sort()) {
    const pods = groups.get(group) ?? [];
    for (const pod of pods.sort(({ name: a }, { name: b }) => (a < b ? -1 : 1))) sorted.push(pod);
    if (slices.isSliceSpent(pods.length)) await slices.yieldToEventLoop(signal);
  }
  return sorted;
}

/** Finds one report per pod, preferably of the live pod. */
async function bestReports(
  source: DebugSource,
  selection: PodSelection,
): Promise<ReadonlyMap<string, PodReport>> {
  const { slices, signal } = selection;
  const reports = new Map<string, PodReport>();
  for (const nodeName of source.sink.cachedNodeNames()) {
    const cached = source.sink.cachedNode(nodeName);
    for (const [key, pod] of cached?.record.pods ?? []) {
      if (slices.isSliceSpent()) await slices.yieldToEventLoop(signal);
      if (!cached || !isSelected(pod, selection)) continue;
      const isLive = () => pod.uid === source.pods.get(pod.namespace, pod.name)?.uid;
      if (!reports.has(key) || isLive()) reports.set(key, { nodeName, cached, pod });
    }
  }
  return reports;
}

function isSelected({ namespace }: PodName, selection: PodSelection): boolean {
  return selection.namespace === undefined || namespace === selection.namespace;
}

/** Finds all reports of a pod, those of the live pod first, then the latest. */
function podReports(source: DebugSource, namespace: string, name: string): readonly PodReport[] {
  const uid = source.pods.get(namespace, name)?.uid;
  const reports: PodReport[] = [];
  for (const nodeName of source.sink.cachedNodeNames()) {
    const cached = source.sink.cachedNode(nodeName);
    const pod = cached?.record.pods.get(`${namespace}/${name}`);
    if (cached && pod) reports.push({ nodeName, cached, pod });
  }
  const rank = ({ pod }: PodReport) => (pod.uid === uid ? 0 : 1);
  return reports.sort(
    (a, b) =>
      rank(a) - rank(b) || b.cached.record.response.receivedAtMs - a.cached.record.response.receivedAtMs,
  );
}

/** One kubelet's report of one pod. */
interface PodReport {
  readonly nodeName: string;
  readonly cached: CachedNode;
  readonly pod: PodRecord;
}
