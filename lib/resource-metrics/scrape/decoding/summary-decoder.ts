import type { Interner } from '#lib/cache/interner.ts';
import type {
  ExtraBytes,
  ExtraResources,
  MetricsBatch,
  NodePoint,
  PodPoints,
} from '#lib/resource-metrics/metrics-batch.ts';
import {
  ContainerCount,
  ExcessiveResponse,
  IgnoredParts,
} from '#lib/resource-metrics/scrape/response-bounds.ts';
import { OtherNodesResponse } from '#lib/resource-metrics/scrape/scrape-error.ts';
import {
  type ContainerReport,
  completePod,
  type DecodeOptions,
  knownAmount,
  knownAmountOrZero,
  knownTimeMs,
  nameInterner,
  type ResponseOrigin,
} from './complete-pod.ts';

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

/** How deep lists and objects may lie in one another; a summary has 8 levels in all. */
const MAX_JSON_DEPTH = 32;

/** Lists, objects and commas: as many as the containers of the largest summary have. */
const MAX_JSON_VALUES = 1_000_000;

/** What is no longer than this costs little, whatever is in it, and so are the responses of nearly all kubelets. */
const UNBOUNDED_BYTES = 256 * 1024;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Parses the JSON text of a kubelet.
 *
 * @param body UTF-8 text
 * @throws {ExcessiveResponse} when a long one has so many or so deep parts that parsing it would take many times its memory
 * @throws when it is not valid JSON
 */
export function parseBoundedJson(body: Buffer): unknown {
  if (body.length > UNBOUNDED_BYTES) refuseExcessive(body);
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new Error('the response is not valid JSON'); // V8's message quotes what a stranger wrote
  }
}

/** Bytes are looked at in blocks of this length, copied: V8 is ten times as slow in a buffer that can be resized, as long ones can. */
const BLOCK_BYTES = 64 * 1024;

/** Looks at each byte once; what is in strings does not count. */
function refuseExcessive(body: Buffer): void {
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

/** The place of the quote that ends the string; the length where it goes on behind it, or one more where the next byte is escaped. */
function endOfString(
  block: Uint8Array,
  { start, length }: { readonly start: number; readonly length: number },
): number {
  let index = start;
  while (index < length && block[index] !== QUOTE) index += block[index] === BACKSLASH ? 2 : 1;
  return index;
}

function tooDeep(): ExcessiveResponse {
  const message = `the response is no summary: its parts lie more than ${MAX_JSON_DEPTH} levels deep in one another`;
  return new ExcessiveResponse('depth', message);
}

function tooMany(): ExcessiveResponse {
  return new ExcessiveResponse(
    'parts',
    `the response has more than ${MAX_JSON_VALUES} lists, objects and members`,
  );
}

/** As Go writes and reads it: with a zone, and with capitals. A longer fraction is no time that anybody measures. */
const RFC_3339 =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Every month has as many days. */
const SHORTEST_MONTH_DAYS = 28;

/**
 * Reads a time as RFC 3339 has it.
 *
 * @returns milliseconds since the Unix epoch; NaN for what is written in any other way
 */
export function parseRfc3339(text: string): number {
  if (!RFC_3339.test(text)) return Number.NaN;
  const day = Number(text.slice(8, 10));
  const isDay = day <= SHORTEST_MONTH_DAYS || day <= daysOfMonth(text);
  return isDay ? Date.parse(text) : Number.NaN;
}

function daysOfMonth(text: string): number {
  const nextMonth = new Date(`${text.slice(0, 7)}-01T00:00:00Z`);
  nextMonth.setUTCMonth(nextMonth.getUTCMonth() + 1, 0);
  return nextMonth.getUTCDate();
}
