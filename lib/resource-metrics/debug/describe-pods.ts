import type { TimeSlices } from '#lib/concurrency/event-loop.ts';
import { livePodOf } from '#lib/resource-metrics/api/pod-metrics-resource.ts';
import type { HeldNode } from '#lib/resource-metrics/sink/metrics-sink.ts';
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

/** The usage of a pod that is served of a snapshot now. */
function servedPodUsage(
  source: DebugSource,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { pods }: Snapshot = source.sink.snapshot,
): PodUsage | undefined {
  const usage = pods.get(namespace)?.get(name);
  return usage && livePodOf(source, usage) && usage;
}

/** Why a pod is not served that a kubelet has reported. */
function explainReportedPod(
  source: DebugSource,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { nodeName, held, pod }: PodReport,
): Reason {
  const live = source.pods.get(namespace, name);
  const obstacle = explainScrape(source, nodeName);
  if (!live) return explainNotLive(source, nodeName);
  if (pod.uid !== undefined && pod.uid !== live.uid) {
    return {
      code: 'ReplacedPod',
      message: `node "${nodeName}" still reports the pod of UID ${pod.uid} that had this name before; the one that lives has UID ${live.uid}`,
    };
  }
  if (pod.incompleteBecause !== undefined) {
    return {
      code: 'IncompletePod',
      message: `according to node "${nodeName}" ${pod.incompleteBecause}, and the pod's sum without it would be too small`,
    };
  }
  if (obstacle) return obstacle;
  if (pod.containerCount === 0) {
    return { code: 'NoContainers', message: `node "${nodeName}" reports no container of it` };
  }
  for (const history of pod.containers) {
    const container = history.name;
    if (!history.usage)
      return explainHistory(history, { of: `container "${container}"`, record: held.record });
  }
  return {
    code: 'NotPublishedYet',
    message: `what node "${nodeName}" reported is complete and is about to be served`,
  };
}

/** Why a pod is not served of which nothing is known but that it lives, or not even that. */
function explainUnreportedPod(
  source: DebugSource,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  failingNodes: number,
): Reason {
  if (!source.pods.get(namespace, name) && !source.pods.isSynced) return NOT_LISTED;
  const nodes = failingNodes === 1 ? 'the node' : `one of the ${failingNodes} nodes`;
  const suspects = failingNodes === 0 ? '' : `, and it may run on ${nodes} that cannot be scraped`;
  return {
    code: 'NotReported',
    message: `no kubelet that responds reports it${suspects}; ask for it by namespace and name to learn which node it is on`,
  };
}

const NOT_LISTED: Reason = { code: 'PodsNotListed', message: 'the running pods have not been listed yet' };

function explainNotLive({ pods }: DebugSource, nodeName: string): Reason {
  if (!pods.isSynced) return NOT_LISTED;
  return {
    code: 'NotRunning',
    message: `node "${nodeName}" reports it, but the API server lists no running pod of this name`,
  };
}

/** Why a pod is not served that no kubelet reports, from what the API server says of it. */
function explainLookedUpPod(source: DebugSource, facts: PodFacts): Reason {
  if (facts.kind === 'absent')
    return { code: 'NoSuchPod', message: 'the API server knows no pod of this name' };
  if (facts.kind === 'unknown') {
    return { code: 'LookupFailed', message: `no kubelet that responds reports it, and ${facts.because}` };
  }
  const { nodeName, phase, startedAtMs } = facts;
  if (nodeName === undefined) return { code: 'NotScheduled', message: 'it has not been given a node yet' };
  if (phase !== 'Running') {
    return { code: 'NotRunning', message: `it is on node "${nodeName}" and its phase is ${phase}` };
  }
  if (!source.nodes.get(nodeName)) {
    return {
      code: 'UnknownNode',
      message: `it runs on node "${nodeName}", which the API server does not list, or --node-selector leaves out`,
    };
  }
  const obstacle = explainScrape(source, nodeName);
  if (obstacle) return obstacle;
  const scrapedAtMs = source.scrapes.get(nodeName)?.startedAtMs ?? 0;
  if (startedAtMs !== undefined && startedAtMs >= scrapedAtMs - 1000) {
    const [started, scraped] = [startedAtMs, scrapedAtMs].map((ms) => new Date(ms).toISOString());
    return {
      code: 'NotReportedYet',
      message: `it started at ${started}, and node "${nodeName}" was last scraped at ${scraped}`,
    };
  }
  return {
    code: 'NotReported',
    message: `it runs on node "${nodeName}", whose kubelet responds, but does not report it`,
  };
}

/** What a pod is called. */
interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** A pod of which it is known whether it is served, and no more. */
interface KnownPod extends PodName {
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
async function knownPods(source: DebugSource, wanted: PodsWanted): Promise<readonly KnownPod[]> {
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
function podReports(source: DebugSource, namespace: string, name: string): readonly PodReport[] {
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

/** What one node's kubelet said of one pod. */
interface PodReport {
  readonly nodeName: string;
  readonly held: HeldNode;
  readonly pod: PodRecord;
}
