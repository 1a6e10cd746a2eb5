import type { ExtraBytes, ExtraResources } from '#lib/resource-metrics/batch/extra-resources.ts';
import type { NodeAnswer, NodePoint, PodPoints } from '#lib/resource-metrics/batch/node-answer.ts';
import type { AnswerOrigin } from '#lib/resource-metrics/scrape/answer-origin.ts';
import { type ContainerReport, completePod } from '#lib/resource-metrics/scrape/complete-pod.ts';

type Json = Readonly<Record<string, unknown>>;

/** What `decodeSummary` does, by parsing the whole text first: slower, and easier to see through. */
export function decodeSummaryPlainly(
  text: string,
  origin: AnswerOrigin,
  extras: ExtraResources = new Set(),
): Pick<NodeAnswer, 'node' | 'pods'> & { readonly unnamed: number } {
  const summary: unknown = JSON.parse(text);
  if (!isObject(summary)) throw new Error('not a JSON object');
  if (!isObject(summary.node) && !Array.isArray(summary.pods)) throw new Error('no summary');
  const node = objectOf(summary.node);
  const nodeName = nonEmpty(node.nodeName);
  if (nodeName !== undefined && nodeName !== origin.nodeName) throw new Error('of another node');
  const decoded = listOf(summary.pods).map((pod) => decodePod(objectOf(pod), extras));
  const pods = decoded.filter((pod) => pod !== undefined);
  const point = decodeNode(node, origin.nodeName, extras);
  const unnamed = decoded.length - pods.length;
  if (!point && pods.length === 0 && unnamed > 0) throw new Error('nothing can be read');
  return { node: point, pods, unnamed };
}

function decodeNode(node: Json, name: string, extras: ExtraResources): NodePoint | undefined {
  const { takenAtMs, cpuCoreNanoseconds, memoryBytes, startedAtMs } = statsOf(node);
  if (takenAtMs === undefined || cpuCoreNanoseconds === undefined || memoryBytes === undefined)
    return undefined;
  const cpuUsageNanocores = positive(objectOf(node.cpu).usageNanoCores);
  const point = { name, startedAtMs, takenAtMs, cpuCoreNanoseconds, memoryBytes, cpuUsageNanocores };
  if (extras.size === 0) return point;
  return { ...point, extraBytes: extraBytes(node, extras, usedBytes(node.fs)) };
}

function decodePod(pod: Json, extras: ExtraResources): PodPoints | undefined {
  const reference = objectOf(pod.podRef);
  const [namespace, name] = [nonEmpty(reference.namespace), nonEmpty(reference.name)];
  if (namespace === undefined || name === undefined) return undefined;
  const reports = listOf(pod.containers).map((container) => decodeContainer(objectOf(container), extras));
  const named = reports.filter((report) => report !== undefined);
  return { namespace, name, uid: nonEmpty(reference.uid), ...completePod(named) };
}

function decodeContainer(container: Json, extras: ExtraResources): ContainerReport | undefined {
  const name = nonEmpty(container.name);
  if (name === undefined) return undefined;
  const report = { name, ...statsOf(container) };
  if (extras.size === 0) return report;
  const [rootfs, logs] = [usedBytes(container.rootfs), usedBytes(container.logs)];
  const storage = rootfs === undefined || logs === undefined ? undefined : rootfs + logs;
  return { ...report, extraBytes: extraBytes(container, extras, storage) };
}

function statsOf(stats: Json) {
  const cpu = objectOf(stats.cpu);
  return {
    startedAtMs: timeMs(stats.startTime),
    takenAtMs: timeMs(cpu.time),
    cpuCoreNanoseconds: positive(cpu.usageCoreNanoSeconds),
    memoryBytes: positive(objectOf(stats.memory).workingSetBytes),
  };
}

function extraBytes(stats: Json, extras: ExtraResources, storage: number | undefined): ExtraBytes {
  const swap = notNegative(objectOf(stats.swap).swapUsageBytes);
  return {
    ...(extras.has('ephemeral-storage') && storage !== undefined && { 'ephemeral-storage': storage }),
    ...(extras.has('swap') && swap !== undefined && { swap }),
  };
}

function usedBytes(section: unknown): number | undefined {
  return notNegative(objectOf(section).usedBytes);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function positive(value: unknown): number | undefined {
  return notNegative(value) === 0 ? undefined : notNegative(value);
}

function notNegative(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? value : undefined;
}

function timeMs(value: unknown): number | undefined {
  return typeof value === 'string' ? positive(Date.parse(value)) : undefined;
}
