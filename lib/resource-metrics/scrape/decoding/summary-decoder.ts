import type { Interner } from '#lib/cache/interner.ts';
import type {
  ExtraBytes,
  ExtraResources,
  MetricsBatch,
  MetricsPoint,
  PodPoints,
} from '#lib/resource-metrics/metrics-batch.ts';
import {
  ContainerCount,
  ExcessiveResponse,
  IgnoredParts,
} from '#lib/resource-metrics/scrape/response-bounds.ts';
import { NodeMismatchError } from '#lib/resource-metrics/scrape/scrape-error.ts';
import {
  type ContainerReport,
  completePod,
  type DecodeOptions,
  nameInterner,
  type ResponseOrigin,
  readAmount,
  readAmountOrZero,
  readTimeMs,
} from './complete-pod.ts';

type Json = Readonly<Record<string, unknown>>;

interface Reading {
  readonly extras: ExtraResources;
  readonly names: Interner<string>;
  readonly count: ContainerCount;
  readonly startTimes: RepeatedTime;
  readonly sampleTimes: RepeatedTime;
}

/**
 * Decodes a kubelet's response to `/stats/summary` (k8s.io/kubelet/pkg/apis/stats/v1alpha1 `Summary`).
 *
 * Kubelets report 0 for missing values, so a counter, working set or time that is zero or out of range counts as
 * missing. Pods without a name are ignored. The result retains no part of the parsed text.
 *
 * @throws {NodeMismatchError} if it names another node
 * @throws {ExcessiveResponse} if it has more or deeper parts than a summary
 * @throws if it is not a JSON object, or has no readable part
 */
export function decodeSummary(
  body: Buffer,
  { nodeName, requestedAtMs, respondedAtMs, receivedAtMs }: ResponseOrigin,
  { extras = new Set(), names = nameInterner() }: DecodeOptions = {},
): MetricsBatch {
  const summary = parseBoundedJson(body);
  if (!isObject(summary)) throw new Error('the response is not a JSON object');
  if (!isObject(summary.node) && !Array.isArray(summary.pods))
    throw new Error('the response is not a summary: it has neither node nor pods');
  const nodeStats = asObject(summary.node);
  const reportedName = nonEmpty(nodeStats.nodeName);
  if (reportedName !== undefined && reportedName !== nodeName) throw new NodeMismatchError(reportedName);
  const [startTimes, sampleTimes] = [new RepeatedTime(), new RepeatedTime()];
  const reading = { extras, names, count: new ContainerCount(), startTimes, sampleTimes };
  const node = readNode(nodeStats, nodeName, reading);
  const pods: PodPoints[] = [];
  const ignored = new IgnoredParts();
  for (const stats of asList(summary.pods)) {
    const pod = readPod(asObject(stats), reading);
    if (pod) pods.push(pod);
    else ignored.add('a pod without name or namespace');
  }
  const [firstIgnored] = ignored.parts;
  if (!node && pods.length === 0 && firstIgnored !== undefined) {
    throw new Error(`the response has no metrics; ignored: ${firstIgnored}`);
  }
  return {
    nodeName,
    requestedAtMs,
    respondedAtMs,
    receivedAtMs,
    stampResolution: 'second',
    node,
    pods,
    ignored: ignored.parts,
  };
}

function readNode(stats: Json, name: string, reading: Reading): MetricsPoint | undefined {
  const { extras } = reading;
  const usage = readUsage(stats, reading);
  const { takenAtMs, cpuCoreNanoseconds, memoryBytes } = usage;
  if (takenAtMs === undefined || cpuCoreNanoseconds === undefined || memoryBytes === undefined)
    return undefined;
  const point = { name, ...usage, takenAtMs, cpuCoreNanoseconds, memoryBytes };
  if (extras.size === 0) return point;
  // Ephemeral storage of a node is the file system of its kubelet.
  return { ...point, extraBytes: readExtras(stats, extras, usedBytes(stats.fs)) };
}

function readPod(stats: Json, reading: Reading): PodPoints | undefined {
  reading.count.add();
  const reference = asObject(stats.podRef);
  const [namespace, name] = [nonEmpty(reference.namespace), nonEmpty(reference.name)];
  const reports: ContainerReport[] = [];
  for (const container of asList(stats.containers)) {
    const report = readContainer(asObject(container), reading);
    if (report) reports.push(report);
  }
  if (namespace === undefined || name === undefined) return undefined;
  const uid = nonEmpty(reference.uid);
  return { namespace: reading.names.intern(namespace), name, uid, ...completePod(reports) };
}

function readContainer(stats: Json, reading: Reading): ContainerReport | undefined {
  const { extras, names, count } = reading;
  count.add();
  const name = nonEmpty(stats.name);
  if (name === undefined) return undefined;
  const { startedAtMs, takenAtMs, cpuCoreNanoseconds, cpuUsageNanocores, memoryBytes } = readUsage(
    stats,
    reading,
  );
  const report = {
    name: names.intern(name),
    startedAtMs,
    takenAtMs,
    cpuCoreNanoseconds,
    cpuUsageNanocores,
    memoryBytes,
  };
  if (extras.size === 0) return report;
  // Ephemeral storage of a container is its writable layer and its logs.
  const [rootfs, logs] = [usedBytes(stats.rootfs), usedBytes(stats.logs)];
  const storage = rootfs === undefined || logs === undefined ? undefined : readAmountOrZero(rootfs + logs);
  return { ...report, extraBytes: readExtras(stats, extras, storage) };
}

function readUsage(stats: Json, { startTimes, sampleTimes }: Reading) {
  const cpu = asObject(stats.cpu);
  return {
    startedAtMs: startTimes.read(stats.startTime),
    takenAtMs: sampleTimes.read(cpu.time),
    cpuCoreNanoseconds: readAmount(cpu.usageCoreNanoSeconds),
    cpuUsageNanocores: readAmount(cpu.usageNanoCores),
    memoryBytes: readAmount(asObject(stats.memory).workingSetBytes),
  };
}

function readExtras(stats: Json, extras: ExtraResources, storage: number | undefined): ExtraBytes {
  const swap = readAmountOrZero(asObject(stats.swap).swapUsageBytes);
  return {
    ...(extras.has('ephemeral-storage') && storage !== undefined && { 'ephemeral-storage': storage }),
    ...(extras.has('swap') && swap !== undefined && { swap }),
  };
}

function usedBytes(section: unknown): number | undefined {
  return readAmountOrZero(asObject(section).usedBytes);
}

/**
 * Parses times, and equal ones in a row once: the containers of a pod start together, and those of a node are read in
 * one second.
 */
class RepeatedTime {
  #text = '';
  #timeMs: number | undefined;

  read(value: unknown): number | undefined {
    if (typeof value !== 'string') return undefined;
    if (value !== this.#text) {
      this.#timeMs = readTimeMs(parseRfc3339(value));
      this.#text = value;
    }
    return this.#timeMs;
  }
}

const NOTHING: Json = {};

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asObject(value: unknown): Json {
  return isObject(value) ? value : NOTHING;
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Maximum nesting; a summary has 8 levels. */
const MAX_JSON_DEPTH = 32;

/** Maximum number of lists, objects and commas; above that of the largest summary. */
const MAX_JSON_VALUES = 1_000_000;

/** Shorter responses, which nearly all kubelets send, are parsed without a check. */
const UNBOUNDED_BYTES = 256 * 1024;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Parses the JSON text of a kubelet.
 *
 * @param body UTF-8 text
 * @throws {ExcessiveResponse} if a long text has so many or so deep values that parsing takes many times its memory
 * @throws if it is not valid JSON
 */
export function parseBoundedJson(body: Buffer): unknown {
  if (body.length > UNBOUNDED_BYTES) rejectExcessive(body);
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new Error('the response is not valid JSON'); // V8's message would quote foreign text
  }
}

/**
 * Bytes are copied in blocks of this length: V8 is ten times slower on resizable memory, which long responses use.
 */
const BLOCK_BYTES = 64 * 1024;

/** Visits each byte once, skipping strings. */
function rejectExcessive(body: Buffer): void {
  const block = new Uint8Array(BLOCK_BYTES);
  let [depth, values, isInString, isEscaped] = [0, 0, false, false];
  for (let start = 0; start < body.length; start += BLOCK_BYTES) {
    const length = body.copy(block, 0, start);
    for (let index = isEscaped ? 1 : 0; index < length; index++) {
      if (isInString) {
        index = endOfString(block, { start: index, length });
        isInString = index >= length;
        isEscaped = index > length;
        continue;
      }
      const code = block[index];
      if (code === QUOTE) isInString = true;
      else if (code === COMMA) values++;
      else if (code === OPENING_BRACE || code === OPENING_BRACKET) {
        values++;
        if (++depth > MAX_JSON_DEPTH) throw tooDeep();
      } else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) depth--;
      if (values > MAX_JSON_VALUES) throw tooMany();
    }
  }
}

/**
 * @returns the index of the closing quote; at least `length` if the string continues, and more if its next byte is
 * escaped
 */
function endOfString(
  block: Uint8Array,
  { start, length }: { readonly start: number; readonly length: number },
): number {
  let index = start;
  while (index < length && block[index] !== QUOTE) index += block[index] === BACKSLASH ? 2 : 1;
  return index;
}

function tooDeep(): ExcessiveResponse {
  const message = `the response is not a summary: nesting exceeds ${MAX_JSON_DEPTH} levels`;
  return new ExcessiveResponse('depth', message);
}

function tooMany(): ExcessiveResponse {
  return new ExcessiveResponse(
    'parts',
    `the response has more than ${MAX_JSON_VALUES} lists, objects and members`,
  );
}

/** As Go formats it: with a zone, in upper case and with at most nine decimals. */
const RFC_3339 =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Valid in every month. */
const MIN_MONTH_DAYS = 28;

/** @returns milliseconds since the Unix epoch; NaN for texts that are not RFC 3339 */
export function parseRfc3339(text: string): number {
  if (!RFC_3339.test(text)) return Number.NaN;
  const day = Number(text.slice(8, 10));
  const isDay = day <= MIN_MONTH_DAYS || day <= daysOfMonth(text);
  return isDay ? Date.parse(text) : Number.NaN;
}

function daysOfMonth(text: string): number {
  const nextMonth = new Date(`${text.slice(0, 7)}-01T00:00:00Z`);
  nextMonth.setUTCMonth(nextMonth.getUTCMonth() + 1, 0);
  return nextMonth.getUTCDate();
}
