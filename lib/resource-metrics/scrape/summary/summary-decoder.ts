import type { Interner } from '#lib/cache/interner.ts';
import type {
  ExtraBytes,
  ExtraResources,
  MetricsBatch,
  NodePoint,
  PodPoints,
} from '#lib/resource-metrics/metrics-batch.ts';
import { type ContainerReport, completePod } from '#lib/resource-metrics/scrape/complete-pod.ts';
import type { ResponseOrigin } from '#lib/resource-metrics/scrape/decode-options.ts';
import { type DecodeOptions, nameInterner } from '#lib/resource-metrics/scrape/decode-options.ts';
import { knownAmount, knownAmountOrZero, knownTimeMs } from '#lib/resource-metrics/scrape/known-values.ts';
import { ContainerCount, IgnoredParts } from '#lib/resource-metrics/scrape/response-bounds.ts';
import { OtherNodesResponse } from '#lib/resource-metrics/scrape/scrape-error.ts';
import { parseBoundedJson } from './bounded-json.ts';
import { parseRfc3339 } from './rfc3339.ts';

type Json = Readonly<Record<string, unknown>>;

/** What the parts of one summary are read with. */
interface Reading {
  readonly extras: ExtraResources;
  readonly names: Interner<string>;
  readonly count: ContainerCount;
}

/**
 * Reads a kubelet's response to `/stats/summary` (k8s.io/kubelet/pkg/apis/stats/v1alpha1 `Summary`).
 *
 * Kubelets write 0 for what they don't know, so a zero counter, working set or time counts as missing, and so does one
 * that is out of bounds. A pod without a name is left out, alone. Nothing of the parsed text is held.
 *
 * @throws {OtherNodesResponse} when it says that it is about another node than was asked
 * @throws {ExcessiveResponse} when it has more parts, or deeper ones, than a summary can
 * @throws when the text is not a JSON object, or when nothing of what it has can be read
 */
export function decodeSummary(
  body: Buffer,
  { nodeName, requestedAtMs, receivedAtMs }: ResponseOrigin,
  { extras = new Set(), names = nameInterner() }: DecodeOptions = {},
): MetricsBatch {
  const summary = parseBoundedJson(body);
  if (!isObject(summary)) throw new Error('the response is not a JSON object');
  if (!isObject(summary.node) && !Array.isArray(summary.pods))
    throw new Error('the response is no summary: it has neither node nor pods');
  const nodeStats = objectOf(summary.node);
  const toldName = nonEmpty(nodeStats.nodeName);
  if (toldName !== undefined && toldName !== nodeName) throw new OtherNodesResponse(toldName);
  const reading = { extras, names, count: new ContainerCount() };
  const node = readNode(nodeStats, nodeName, extras);
  const pods: PodPoints[] = [];
  const ignored = new IgnoredParts();
  for (const stats of listOf(summary.pods)) {
    const pod = readPod(objectOf(stats), reading);
    if (pod) pods.push(pod);
    else ignored.note('a pod without name or namespace');
  }
  const [firstIgnored] = ignored.held;
  if (!node && pods.length === 0 && firstIgnored !== undefined) {
    throw new Error(`the response has no metrics, but ${firstIgnored}`);
  }
  return {
    nodeName,
    requestedAtMs,
    receivedAtMs,
    stampResolution: 'second',
    node,
    pods,
    ignored: ignored.held,
  };
}

function readNode(stats: Json, name: string, extras: ExtraResources): NodePoint | undefined {
  const { takenAtMs, cpuCoreNanoseconds, memoryBytes, startedAtMs } = readUsage(stats);
  if (takenAtMs === undefined || cpuCoreNanoseconds === undefined || memoryBytes === undefined)
    return undefined;
  const cpuUsageNanocores = knownAmount(objectOf(stats.cpu).usageNanoCores);
  const point = { name, startedAtMs, takenAtMs, cpuCoreNanoseconds, memoryBytes, cpuUsageNanocores };
  if (extras.size === 0) return point;
  // The file system of its kubelet is a node's ephemeral storage.
  return { ...point, extraBytes: readExtras(stats, extras, usedBytes(stats.fs)) };
}

function readPod(stats: Json, reading: Reading): PodPoints | undefined {
  reading.count.add();
  const reference = objectOf(stats.podRef);
  const [namespace, name] = [nonEmpty(reference.namespace), nonEmpty(reference.name)];
  const reports: ContainerReport[] = [];
  for (const container of listOf(stats.containers)) {
    const report = readContainer(objectOf(container), reading);
    if (report) reports.push(report);
  }
  if (namespace === undefined || name === undefined) return undefined;
  const uid = nonEmpty(reference.uid);
  return { namespace: reading.names.intern(namespace), name, uid, ...completePod(reports) };
}

function readContainer(stats: Json, { extras, names, count }: Reading): ContainerReport | undefined {
  count.add();
  const name = nonEmpty(stats.name);
  if (name === undefined) return undefined;
  const { startedAtMs, takenAtMs, cpuCoreNanoseconds, memoryBytes } = readUsage(stats);
  const report = { name: names.intern(name), startedAtMs, takenAtMs, cpuCoreNanoseconds, memoryBytes };
  if (extras.size === 0) return report;
  // Its writable layer and its logs are a container's ephemeral storage.
  const [rootfs, logs] = [usedBytes(stats.rootfs), usedBytes(stats.logs)];
  const storage = rootfs === undefined || logs === undefined ? undefined : knownAmountOrZero(rootfs + logs);
  return { ...report, extraBytes: readExtras(stats, extras, storage) };
}

function readUsage(stats: Json) {
  const cpu = objectOf(stats.cpu);
  return {
    startedAtMs: timeMs(stats.startTime),
    takenAtMs: timeMs(cpu.time),
    cpuCoreNanoseconds: knownAmount(cpu.usageCoreNanoSeconds),
    memoryBytes: knownAmount(objectOf(stats.memory).workingSetBytes),
  };
}

function readExtras(stats: Json, extras: ExtraResources, storage: number | undefined): ExtraBytes {
  const swap = knownAmountOrZero(objectOf(stats.swap).swapUsageBytes);
  return {
    ...(extras.has('ephemeral-storage') && storage !== undefined && { 'ephemeral-storage': storage }),
    ...(extras.has('swap') && swap !== undefined && { swap }),
  };
}

function usedBytes(section: unknown): number | undefined {
  return knownAmountOrZero(objectOf(section).usedBytes);
}

function timeMs(value: unknown): number | undefined {
  return typeof value === 'string' ? knownTimeMs(parseRfc3339(value)) : undefined;
}

const NOTHING: Json = {};

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown): Json {
  return isObject(value) ? value : NOTHING;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
