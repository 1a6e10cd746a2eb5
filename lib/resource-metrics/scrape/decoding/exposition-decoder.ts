import type { Interner } from '#lib/cache/interner.ts';
import type { MetricsBatch, MetricsPoint, PodPoints } from '#lib/resource-metrics/metrics-batch.ts';
import { ContainerCount, IgnoredParts } from '#lib/resource-metrics/scrape/response-bounds.ts';
import {
  type ContainerReport,
  completePod,
  type DecodeOptions,
  nameInterner,
  readAmount,
  readAmountOrZero,
  readTimeMs,
  type TimedResponseOrigin,
} from './complete-pod.ts';
import { SampleReader, type Span } from './sample-reader.ts';

interface Sample {
  readonly value: number;
  readonly timestampMs: number;
}

/** The subject of a series, and how a sample is added to its report. */
interface Series {
  readonly of: 'node' | 'container' | 'scrape';
  readonly add: (report: ReportDraft, sample: Sample) => void;
}

/** The relevant series of `/metrics/resource` (k8s.io/kubernetes/pkg/kubelet/metrics/collectors). */
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

interface ExpositionOptions extends DecodeOptions {
  /** Containers of previous responses; reading takes a third of the time if they recur. */
  readonly expected?: ExpectedContainers;
}

/**
 * Decodes a kubelet's response to `/metrics/resource`, in Prometheus' text format.
 *
 * A counter, working set or time that is zero, out of range or not a number counts as missing. A sample without a
 * timestamp gets the wall clock time of receipt. Invalid lines are ignored one by one. The result retains no part of
 * the body.
 *
 * @param body UTF-8 text
 * @param options.extras resources in addition to CPU and memory; this endpoint has no storage
 * @throws {ExcessiveResponse} if it has more lines or containers than a node can have
 * @throws if it has no sample of the node or a container
 */
export function decodeExposition(
  body: Buffer,
  { receivedAtWallMs, ...origin }: TimedResponseOrigin,
  { extras = new Set(), names = nameInterner(), expected }: ExpositionOptions = {},
): MetricsBatch {
  const reader = new SampleReader(isResizable(body) ? Buffer.from(body) : body);
  const draft: ExpositionDraft = {
    series: extras.has('swap') ? SERIES_WITH_SWAP : SERIES,
    unstampedAtMs: receivedAtWallMs,
    node: emptyReport(origin.nodeName),
    containers: new ExpositionContainers(reader, { names, expected: expected?.get(origin.nodeName) ?? [] }),
    seriesName: '',
    current: undefined,
    hasScrapeError: false,
  };
  const ignored = new IgnoredParts();
  while (reader.nextLine())
    if (!readSample(reader, draft)) ignored.add(`invalid sample line ${JSON.stringify(reader.excerpt)}`);
  const node = completeNode(draft.node);
  const pods = draft.containers.pods();
  expected?.record(origin.nodeName, draft.containers.found);
  if (!node && pods.length === 0) throw new Error(describeAbsence(draft, ignored));
  const points = { node, pods, ignored: ignored.parts };
  return { ...origin, stampResolution: 'millisecond', ...points };
}

/** V8 is ten times slower on resizable memory, which long responses use; these are copied. */
function isResizable({ buffer }: Buffer): boolean {
  return buffer instanceof ArrayBuffer && buffer.resizable;
}

/** State while a response is decoded. */
interface ExpositionDraft {
  readonly series: ReadonlyMap<string, Series>;
  /** Time of samples without timestamps, in milliseconds since the epoch. */
  readonly unstampedAtMs: number;
  /** A node has the values of a container. */
  readonly node: ReportDraft;
  readonly containers: ExpositionContainers;
  /** The last series read, and its meaning if it is relevant. */
  seriesName: string;
  current: Series | undefined;
  hasScrapeError: boolean;
}

/** @returns whether the line is valid; of irrelevant series, only the name is parsed */
function readSample(reader: SampleReader, draft: ExpositionDraft): boolean {
  const name = reader.name();
  if (name === undefined) return false;
  if (name !== draft.seriesName) {
    draft.seriesName = name;
    draft.current = draft.series.get(name);
  }
  const { current: series } = draft;
  if (!series) return true;
  const report = series.of === 'container' ? draft.containers.report() : nodeReport(reader, draft);
  const sample = report && reader.rest();
  if (!sample) return false;
  if (series.of === 'scrape') draft.hasScrapeError = sample.value !== 0;
  series.add(report, { value: sample.value, timestampMs: sample.timestampMs ?? draft.unstampedAtMs });
  return true;
}

/** Its samples have no relevant labels. */
function nodeReport(reader: SampleReader, { node }: ExpositionDraft): ReportDraft | undefined {
  return reader.labels(() => {}) === undefined ? undefined : node;
}

function completeNode(node: ContainerReport): MetricsPoint | undefined {
  const { takenAtMs, cpuCoreNanoseconds, memoryBytes } = node;
  if (takenAtMs === undefined || cpuCoreNanoseconds === undefined || memoryBytes === undefined)
    return undefined;
  return { ...node, takenAtMs, cpuCoreNanoseconds, memoryBytes };
}

function describeAbsence(
  { hasScrapeError }: ExpositionDraft,
  { parts: [firstIgnored] }: IgnoredParts,
): string {
  const reason = hasScrapeError
    ? 'the kubelet failed to read its own metrics'
    : 'the response has no metrics';
  return firstIgnored === undefined ? reason : `${reason}; ignored: ${firstIgnored}`;
}

/** Seconds have up to nine decimals; rounding restores whole nanoseconds. */
function addCpu(report: ReportDraft, { value, timestampMs }: Sample): void {
  report.cpuCoreNanoseconds = readAmount(Math.round(value * 1e9));
  report.takenAtMs = readTimeMs(timestampMs);
}

function addMemory(report: ReportDraft, { value }: Sample): void {
  report.memoryBytes = readAmount(value);
}

function addStart(report: ReportDraft, { value }: Sample): void {
  report.startedAtMs = readTimeMs(value * 1000);
}

/** 0 is valid: without swap statistics there is no such series. */
function addSwap(report: ReportDraft, { value }: Sample): void {
  const swap = readAmountOrZero(value);
  report.extraBytes = swap === undefined ? undefined : { swap };
}

/** A report that samples are added to. */
export type ReportDraft = { -readonly [Key in keyof ContainerReport]: ContainerReport[Key] };

/** The labels that identify a container. */
const NAMING_LABELS = ['namespace', 'pod', 'container'] as const;
type NamingLabel = (typeof NAMING_LABELS)[number];
const LABEL_BYTES: Readonly<Record<NamingLabel, Uint8Array>> = {
  namespace: Buffer.from('namespace'),
  pod: Buffer.from('pod'),
  container: Buffer.from('container'),
};

/** Name of the report that takes samples without container labels. */
const NO_CONTAINER = '';

interface ExpositionContainersOptions {
  readonly names: Interner<string>;
  /** The containers of the node's previous response, in its order. */
  readonly expected: readonly ExpectedContainer[];
}

/**
 * The containers of an exposition. Kubelets sort samples by name and labels, so all series and responses have the
 * same order of containers: the labels of a sample are compared with the expected ones instead of being parsed.
 */
class ExpositionContainers {
  readonly #reader: SampleReader;
  readonly #names: Interner<string>;
  /** Expected containers in their order, followed by new ones. */
  readonly #likely: ExpectedContainer[];
  readonly #reports: (ReportDraft | undefined)[] = [];
  /** Index of the container expected next. */
  #next = 0;
  /** Indexes by key, created when the order differs. */
  #indexes: Map<string, number> | undefined;
  #pods: Map<string, ExpectedPod> | undefined;
  readonly #found: ExpectedContainer[] = [];
  readonly #reportsByPod = new Map<ExpectedPod, ReportDraft[]>();
  readonly #count = new ContainerCount();
  readonly #labels: Record<NamingLabel, string> = { namespace: '', pod: '', container: '' };

  constructor(reader: SampleReader, { names, expected }: ExpositionContainersOptions) {
    this.#reader = reader;
    this.#names = names;
    this.#likely = [...expected];
  }

  /** In the order of first samples. */
  get found(): readonly ExpectedContainer[] {
    return this.#found;
  }

  /**
   * Reads the labels of a sample.
   *
   * @returns the report of its container, or an unused one without container labels; `undefined` for invalid labels
   * @throws {ExcessiveResponse} if there are more containers than a node can have
   */
  report(): ReportDraft | undefined {
    const likely = this.#isAhead(this.#next) ? this.#next : this.#isAhead(0) ? 0 : undefined;
    if (likely !== undefined) return this.#reportAt(likely);
    const labels = this.#labels;
    labels.namespace = labels.pod = labels.container = '';
    if (this.#reader.labels(this.#addLabel) === undefined) return undefined;
    if (!labels.namespace || !labels.pod || !labels.container) return emptyReport(NO_CONTAINER);
    const key = `${labels.namespace}/${labels.pod}/${labels.container}`;
    const index = this.#indexesByKey().get(key);
    if (index !== undefined) return this.#reportAt(index);
    this.#indexes?.set(key, this.#likely.length);
    return this.#begin(this.#likely.push(this.#newContainer()) - 1);
  }

  /** In the order of first samples. */
  pods(): readonly PodPoints[] {
    return Array.from(this.#reportsByPod, ([{ namespace, name }, reports]) => {
      return { namespace, name, uid: undefined, ...completePod(reports) };
    });
  }

  readonly #addLabel = (name: Span, value: Span): void => {
    for (const label of NAMING_LABELS)
      if (this.#reader.is(name, LABEL_BYTES[label])) this.#labels[label] = this.#reader.text(value);
  };

  #isAhead(index: number): boolean {
    const container = this.#likely[index];
    return container?.isPlain === true && this.#reader.skipNames(container.name, container.pod);
  }

  #reportAt(index: number): ReportDraft {
    this.#next = index + 1;
    return this.#reports[index] ?? this.#begin(index);
  }

  /** Starts the report of a container at its first sample. */
  #begin(index: number): ReportDraft {
    const container = this.#likely[index] as ExpectedContainer;
    const report = emptyReport(container.name);
    const reports = this.#reportsByPod.get(container.pod);
    if (!reports) this.#count.add(this.#where);
    this.#count.add(this.#where);
    if (reports) reports.push(report);
    else this.#reportsByPod.set(container.pod, [report]);
    this.#found.push(container);
    this.#reports[index] = report;
    return report;
  }

  #newContainer(): ExpectedContainer {
    const { namespace, pod: podName, container } = this.#labels;
    const key = `${namespace}/${podName}`;
    const pods = this.#podsByKey();
    const pod = pods.get(key) ?? { namespace: this.#names.intern(namespace), name: podName };
    pods.set(key, pod);
    return { name: this.#names.intern(container), pod, isPlain: mayBeExpected(container, pod) };
  }

  #indexesByKey(): Map<string, number> {
    this.#indexes ??= new Map(
      this.#likely.map(({ name, pod }, index) => [`${pod.namespace}/${pod.name}/${name}`, index]),
    );
    return this.#indexes;
  }

  #podsByKey(): Map<string, ExpectedPod> {
    this.#pods ??= new Map(this.#likely.map(({ pod }) => [`${pod.namespace}/${pod.name}`, pod]));
    return this.#pods;
  }

  get #where(): string {
    return ` by line ${this.#reader.lines}`;
  }
}

export function emptyReport(name: string): ReportDraft {
  return {
    name,
    startedAtMs: undefined,
    takenAtMs: undefined,
    cpuCoreNanoseconds: undefined,
    cpuUsageNanocores: undefined,
    memoryBytes: undefined,
  };
}

interface ExpectedPod {
  readonly namespace: string;
  readonly name: string;
}

/** A container that is likely to recur in the next response of its node. */
export interface ExpectedContainer {
  readonly name: string;
  /** Shared by all containers of the pod. */
  readonly pod: ExpectedPod;
  /** Whether its names need no escapes, so that they can be compared bytewise. */
  readonly isPlain: boolean;
}

/** ASCII without quotes and backslashes; includes all valid names of Kubernetes. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Whether the names of a container need no escapes. */
export function mayBeExpected(name: string, pod: ExpectedPod): boolean {
  return PLAIN.test(name) && PLAIN.test(pod.namespace) && PLAIN.test(pod.name);
}

/** Several times the capacity of a node; nodes with more are not cached. */
const MAX_EXPECTED = 2000;

/** Caches the containers of each node's last response. */
export class ExpectedContainers {
  readonly #byNode = new Map<string, readonly ExpectedContainer[]>();

  /** In the order of first samples; empty for a new node. */
  get(nodeName: string): readonly ExpectedContainer[] {
    return this.#byNode.get(nodeName) ?? [];
  }

  /** Records the containers of a response; retains the previous list if it is equal. */
  record(nodeName: string, found: readonly ExpectedContainer[]): void {
    const cached = this.#byNode.get(nodeName);
    const isSame =
      cached?.length === found.length && cached.every((container, index) => container === found[index]);
    if (found.length > MAX_EXPECTED) this.#byNode.delete(nodeName);
    else if (!isSame) this.#byNode.set(nodeName, found);
  }

  /** Removes nodes that are no longer live. */
  retain(isLive: (nodeName: string) => boolean): void {
    for (const nodeName of this.#byNode.keys()) if (!isLive(nodeName)) this.#byNode.delete(nodeName);
  }
}
