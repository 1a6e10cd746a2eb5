import type { MetricsBatch, NodePoint } from '#lib/resource-metrics/metrics-batch.ts';
import type { ContainerReport } from '#lib/resource-metrics/scrape/complete-pod.ts';
import type { TimedResponseOrigin } from '#lib/resource-metrics/scrape/decode-options.ts';
import { type DecodeOptions, nameInterner } from '#lib/resource-metrics/scrape/decode-options.ts';
import { SampleReader } from '#lib/resource-metrics/scrape/decoding/sample-reader.ts';
import { knownAmount, knownAmountOrZero, knownTimeMs } from '#lib/resource-metrics/scrape/known-values.ts';
import { IgnoredParts } from '#lib/resource-metrics/scrape/response-bounds.ts';
import type { ExpectedContainers } from './expected-containers.ts';
import { ExpositionContainers, emptyReport, type ReportDraft } from './exposition-containers.ts';

/** What a sample says. */
interface Sample {
  readonly value: number;
  readonly timestampMs: number;
}

/** What a series is about, and what it adds to the report of that. */
interface Series {
  readonly of: 'node' | 'container' | 'scrape';
  readonly add: (report: ReportDraft, sample: Sample) => void;
}

/** Those of `/metrics/resource` (k8s.io/kubernetes/pkg/kubelet/metrics/collectors) that count. */
const SERIES: ReadonlyMap<string, Series> = new Map([
  ['node_cpu_usage_seconds_total', { of: 'node', add: addCpu }],
  ['node_memory_working_set_bytes', { of: 'node', add: addMemory }],
  ['container_cpu_usage_seconds_total', { of: 'container', add: addCpu }],
  ['container_memory_working_set_bytes', { of: 'container', add: addMemory }],
  ['container_start_time_seconds', { of: 'container', add: addStart }],
  ['resource_scrape_error', { of: 'scrape', add: () => {} }],
]);

const SERIES_WITH_SWAP: ReadonlyMap<string, Series> = new Map([
  ...SERIES,
  ['node_swap_usage_bytes', { of: 'node', add: addSwap }],
  ['container_swap_usage_bytes', { of: 'container', add: addSwap }],
]);

/** How an exposition is decoded. */
export interface ExpositionOptions extends DecodeOptions {
  /** Which containers nodes had before; reading takes a third of the time where they still do. */
  readonly expected?: ExpectedContainers;
}

/**
 * Reads a kubelet's response to `/metrics/resource`, in Prometheus' text format.
 *
 * A zero counter, working set or time, and one that is out of bounds or no number, counts as missing. A sample without a
 * time is of the moment of its receipt, by our clock. A line that is none is left out, alone. Nothing of the text is held.
 *
 * @param body UTF-8 text
 * @param options.extras what is to be read beside CPU and memory; of storage nothing is said here
 * @throws {ExcessiveResponse} when it has more lines or containers than a node can
 * @throws when nothing in it is about the node or a container
 */
export function decodeExposition(
  body: Buffer,
  { receivedAtWallMs, nodeName, requestedAtMs, receivedAtMs }: TimedResponseOrigin,
  { extras = new Set(), names = nameInterner(), expected }: ExpositionOptions = {},
): MetricsBatch {
  const reader = new SampleReader(isResizable(body) ? Buffer.from(body) : body);
  const draft: ExpositionDraft = {
    known: extras.has('swap') ? SERIES_WITH_SWAP : SERIES,
    unstampedAtMs: receivedAtWallMs,
    node: emptyReport(nodeName),
    containers: new ExpositionContainers(reader, { names, expected: expected?.of(nodeName) ?? [] }),
    seriesName: '',
    series: undefined,
    hasScrapeError: false,
  };
  const ignored = new IgnoredParts();
  while (reader.nextLine())
    if (!readSample(reader, draft))
      ignored.note(`a line that is no sample: ${JSON.stringify(reader.excerpt)}`);
  const node = completeNode(draft.node);
  const pods = draft.containers.pods();
  expected?.note(nodeName, draft.containers.found);
  if (!node && pods.length === 0) throw new Error(describeAbsence(draft, ignored));
  const points = { node, pods, ignored: ignored.held };
  return { nodeName, requestedAtMs, receivedAtMs, stampResolution: 'millisecond', ...points };
}

/** V8 is ten times as slow in memory that can be resized, as that of long responses can: these are copied. */
function isResizable({ buffer }: Buffer): boolean {
  return buffer instanceof ArrayBuffer && buffer.resizable;
}

/** What has been read of a response so far. */
interface ExpositionDraft {
  readonly known: ReadonlyMap<string, Series>;
  /** When samples were taken that have no timestamp, in milliseconds since the epoch. */
  readonly unstampedAtMs: number;
  /** A node says what a container says. */
  readonly node: ReportDraft;
  readonly containers: ExpositionContainers;
  /** The name of the series that was read last, and what it means if it counts. */
  seriesName: string;
  series: Series | undefined;
  hasScrapeError: boolean;
}

/** @returns whether the line is a sample, as far as it is looked at: of series that do not count, the name is */
function readSample(reader: SampleReader, draft: ExpositionDraft): boolean {
  const name = reader.name();
  if (name === undefined) return false;
  if (name !== draft.seriesName) {
    draft.seriesName = name;
    draft.series = draft.known.get(name);
  }
  const { series } = draft;
  if (!series) return true;
  const report = series.of === 'container' ? draft.containers.report() : nodeReport(reader, draft);
  const sample = report && reader.rest();
  if (!sample) return false;
  if (series.of === 'scrape') draft.hasScrapeError = sample.value !== 0;
  series.add(report, { value: sample.value, timestampMs: sample.timestampMs ?? draft.unstampedAtMs });
  return true;
}

/** Its samples have no labels that count. */
function nodeReport(reader: SampleReader, { node }: ExpositionDraft): ReportDraft | undefined {
  return reader.labels(() => {}) === undefined ? undefined : node;
}

function completeNode(node: ContainerReport): NodePoint | undefined {
  const { takenAtMs, cpuCoreNanoseconds, memoryBytes } = node;
  if (takenAtMs === undefined || cpuCoreNanoseconds === undefined || memoryBytes === undefined)
    return undefined;
  return { ...node, takenAtMs, cpuCoreNanoseconds, memoryBytes, cpuUsageNanocores: undefined };
}

function describeAbsence(
  { hasScrapeError }: ExpositionDraft,
  { held: [firstIgnored] }: IgnoredParts,
): string {
  const reason = hasScrapeError
    ? 'the kubelet failed to read its own metrics'
    : 'the response has no metrics';
  return firstIgnored === undefined ? reason : `${reason}, but ${firstIgnored}`;
}

/** Seconds are printed to the nanosecond; the product is rounded back to it. */
function addCpu(report: ReportDraft, { value, timestampMs }: Sample): void {
  report.cpuCoreNanoseconds = knownAmount(Math.round(value * 1e9));
  report.takenAtMs = knownTimeMs(timestampMs);
}

function addMemory(report: ReportDraft, { value }: Sample): void {
  report.memoryBytes = knownAmount(value);
}

function addStart(report: ReportDraft, { value }: Sample): void {
  report.startedAtMs = knownTimeMs(value * 1000);
}

/** A 0 is one: where swap is not known, there is no such series. */
function addSwap(report: ReportDraft, { value }: Sample): void {
  const swap = knownAmountOrZero(value);
  report.extraBytes = swap === undefined ? undefined : { swap };
}
