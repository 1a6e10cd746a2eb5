import type { Interner } from '#lib/cache/interner.ts';
import type { MetricsBatch, NodePoint, PodPoints } from '#lib/resource-metrics/metrics-batch.ts';
import { ContainerCount, IgnoredParts } from '#lib/resource-metrics/scrape/response-bounds.ts';
import {
  type ContainerReport,
  completePod,
  type DecodeOptions,
  knownAmount,
  knownAmountOrZero,
  knownTimeMs,
  nameInterner,
  type TimedResponseOrigin,
} from './complete-pod.ts';
import { SampleReader, type Span } from './sample-reader.ts';

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
interface ExpositionOptions extends DecodeOptions {
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

/** A report that is filled sample by sample. */
export type ReportDraft = { -readonly [Key in keyof ContainerReport]: ContainerReport[Key] };

/** The labels that tell which container a sample is about. */
const NAMING_LABELS = ['namespace', 'pod', 'container'] as const;
type NamingLabel = (typeof NAMING_LABELS)[number];
const LABEL_BYTES: Readonly<Record<NamingLabel, Uint8Array>> = {
  namespace: Buffer.from('namespace'),
  pod: Buffer.from('pod'),
  container: Buffer.from('container'),
};

/** Nobody's: of samples that name no container. */
const NOBODY = '';

/** What expositions are read with. */
interface ExpositionContainersOptions {
  readonly names: Interner<string>;
  /** The containers of the node's latest exposition, in its order. */
  readonly expected: readonly ExpectedContainer[];
}

/**
 * The containers of an exposition. Kubelets sort samples by name and labels, so each series, and each response, reports the same
 * containers in the same order: whose sample comes next is known from before, and its labels are compared rather than read.
 */
class ExpositionContainers {
  readonly #reader: SampleReader;
  readonly #names: Interner<string>;
  /** Those that may come, in their likely order; those that came unexpectedly behind them. */
  readonly #likely: ExpectedContainer[];
  readonly #reports: (ReportDraft | undefined)[] = [];
  /** Which of them is likely to come next. */
  #next = 0;
  /** Which of them is which, once one came in another order. */
  #places: Map<string, number> | undefined;
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

  /** The containers, in the order of their first samples. */
  get found(): readonly ExpectedContainer[] {
    return this.#found;
  }

  /**
   * Reads the labels of a sample.
   *
   * @returns the report of its container, of nobody's where it names none; `undefined` where they are malformed
   * @throws {ExcessiveResponse} when there are more containers than a node can have
   */
  report(): ReportDraft | undefined {
    const likely = this.#isAhead(this.#next) ? this.#next : this.#isAhead(0) ? 0 : undefined;
    if (likely !== undefined) return this.#reportAt(likely);
    const labels = this.#labels;
    labels.namespace = labels.pod = labels.container = '';
    if (this.#reader.labels(this.#note) === undefined) return undefined;
    if (!labels.namespace || !labels.pod || !labels.container) return emptyReport(NOBODY);
    const key = `${labels.namespace}/${labels.pod}/${labels.container}`;
    const place = this.#placesByKey().get(key);
    if (place !== undefined) return this.#reportAt(place);
    this.#places?.set(key, this.#likely.length);
    return this.#begin(this.#likely.push(this.#newContainer()) - 1);
  }

  /** All pods, in the order of their first samples. */
  pods(): readonly PodPoints[] {
    return Array.from(this.#reportsByPod, ([{ namespace, name }, reports]) => {
      return { namespace, name, uid: undefined, ...completePod(reports) };
    });
  }

  readonly #note = (name: Span, value: Span): void => {
    for (const label of NAMING_LABELS)
      if (this.#reader.is(name, LABEL_BYTES[label])) this.#labels[label] = this.#reader.text(value);
  };

  #isAhead(place: number): boolean {
    const container = this.#likely[place];
    return container?.isPlain === true && this.#reader.skipNames(container.name, container.pod);
  }

  #reportAt(place: number): ReportDraft {
    this.#next = place + 1;
    return this.#reports[place] ?? this.#begin(place);
  }

  /** A container's first sample has come. */
  #begin(place: number): ReportDraft {
    const container = this.#likely[place] as ExpectedContainer;
    const report = emptyReport(container.name);
    const reports = this.#reportsByPod.get(container.pod);
    if (!reports) this.#count.add(this.#where);
    this.#count.add(this.#where);
    if (reports) reports.push(report);
    else this.#reportsByPod.set(container.pod, [report]);
    this.#found.push(container);
    this.#reports[place] = report;
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

  #placesByKey(): Map<string, number> {
    this.#places ??= new Map(
      this.#likely.map(({ name, pod }, place) => [`${pod.namespace}/${pod.name}/${name}`, place]),
    );
    return this.#places;
  }

  #podsByKey(): Map<string, ExpectedPod> {
    this.#pods ??= new Map(this.#likely.map(({ pod }) => [`${pod.namespace}/${pod.name}`, pod]));
    return this.#pods;
  }

  get #where(): string {
    return ` by line ${this.#reader.lines}`;
  }
}

/** Nothing is known yet. */
export function emptyReport(name: string): ReportDraft {
  return {
    name,
    startedAtMs: undefined,
    takenAtMs: undefined,
    cpuCoreNanoseconds: undefined,
    memoryBytes: undefined,
  };
}

/** A pod as samples name it. */
interface ExpectedPod {
  readonly namespace: string;
  readonly name: string;
}

/** A container whose samples are likely to come, as they did in the node's latest exposition. */
export interface ExpectedContainer {
  readonly name: string;
  /** The same object for all containers of a pod. */
  readonly pod: ExpectedPod;
  /** Whether its names stand in a sample as they are, so that comparing them will do. */
  readonly isPlain: boolean;
}

/** What Kubernetes' names are made of, and more, but nothing that is escaped or takes several bytes. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Whether a container's names stand in a sample as they are. */
export function mayBeExpected(name: string, pod: ExpectedPod): boolean {
  return PLAIN.test(name) && PLAIN.test(pod.namespace) && PLAIN.test(pod.name);
}

/** Several times as many as nodes have; of one that has more, nothing is remembered. */
const MOST_EXPECTED = 2000;

/** Remembers by node which containers its latest exposition had. */
export class ExpectedContainers {
  readonly #byNode = new Map<string, readonly ExpectedContainer[]>();

  /** In the order of their first samples; none of a node that is new. */
  of(nodeName: string): readonly ExpectedContainer[] {
    return this.#byNode.get(nodeName) ?? [];
  }

  /** Notes what a node has now: where that is the same, what is held stays. */
  note(nodeName: string, found: readonly ExpectedContainer[]): void {
    const held = this.#byNode.get(nodeName);
    const isSame =
      held?.length === found.length && held.every((container, index) => container === found[index]);
    if (found.length > MOST_EXPECTED) this.#byNode.delete(nodeName);
    else if (!isSame) this.#byNode.set(nodeName, found);
  }

  /** Drops what is known of nodes that are gone. */
  retain(isLive: (nodeName: string) => boolean): void {
    for (const nodeName of this.#byNode.keys()) if (!isLive(nodeName)) this.#byNode.delete(nodeName);
  }
}
