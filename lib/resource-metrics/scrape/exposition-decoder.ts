import type { ExtraBytes, ExtraResources } from '#lib/resource-metrics/batch/extra-resources.ts';
import type { NodeAnswer, NodePoint, PodPoints } from '#lib/resource-metrics/batch/node-answer.ts';
import type { TimedAnswerOrigin } from './answer-origin.ts';
import { type ContainerReport, completePod } from './complete-pod.ts';
import { type ExpositionSample, parseSample } from './exposition-sample.ts';
import { IgnoredParts } from './ignored-parts.ts';

type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

/** What has been read of a pod so far. */
interface PodDraft {
  readonly namespace: string;
  readonly name: string;
  readonly containers: Map<string, Draft<ContainerReport>>;
}

/** What has been read of an answer so far. */
interface AnswerDraft {
  /** When samples were taken that have no timestamp, in milliseconds since the epoch. */
  readonly unstampedAtMs: number;
  /** A node says what a container says. */
  readonly node: Draft<ContainerReport>;
  readonly pods: Map<string, PodDraft>;
  hasScrapeError: boolean;
}

type Series = ReadonlyMap<string, (answer: AnswerDraft, sample: ExpositionSample) => void>;

/** What each series of `/metrics/resource` (k8s.io/kubernetes/pkg/kubelet/metrics/collectors) adds to an answer. */
const SERIES: Series = new Map([
  [
    'node_cpu_usage_seconds_total',
    (answer, sample) => {
      answer.node.cpuCoreNanoseconds = coreNanoseconds(sample);
      answer.node.takenAtMs = takenAtMs(answer, sample);
    },
  ],
  [
    'node_memory_working_set_bytes',
    ({ node }, { value }) => {
      node.memoryBytes = positive(value);
    },
  ],
  [
    'container_cpu_usage_seconds_total',
    (answer, sample) => {
      const container = containerOf(answer, sample);
      if (!container) return;
      container.cpuCoreNanoseconds = coreNanoseconds(sample);
      container.takenAtMs = takenAtMs(answer, sample);
    },
  ],
  [
    'container_memory_working_set_bytes',
    (answer, sample) => {
      const container = containerOf(answer, sample);
      if (container) container.memoryBytes = positive(sample.value);
    },
  ],
  [
    'container_start_time_seconds',
    (answer, sample) => {
      const container = containerOf(answer, sample);
      if (container) container.startedAtMs = positive(sample.value * 1000);
    },
  ],
  [
    'resource_scrape_error',
    (answer, { value }) => {
      answer.hasScrapeError = value !== 0;
    },
  ],
]);

const SERIES_WITH_SWAP: Series = new Map([
  ...SERIES,
  [
    'node_swap_usage_bytes',
    ({ node }, sample) => {
      node.extraBytes = swapBytes(sample);
    },
  ],
  [
    'container_swap_usage_bytes',
    (answer, sample) => {
      const container = containerOf(answer, sample);
      if (container) container.extraBytes = swapBytes(sample);
    },
  ],
]);

/**
 * Reads a kubelet's answer to `/metrics/resource`, in Prometheus' text format.
 *
 * A zero counter, working set or time, and one that is no finite number, counts as missing. A sample without a time is of
 * the moment of its receipt, by our clock. A line that is none is left out, alone.
 *
 * @param extras what is to be read beside CPU and memory; of storage nothing is said here
 * @throws when nothing in it is about the node or a container
 */
export function decodeExposition(
  text: string,
  { receivedAtWallMs, ...origin }: TimedAnswerOrigin,
  extras: ExtraResources = new Set(),
): NodeAnswer {
  const series = extras.has('swap') ? SERIES_WITH_SWAP : SERIES;
  const draft: AnswerDraft = {
    unstampedAtMs: receivedAtWallMs,
    node: emptyReport(origin.nodeName),
    pods: new Map(),
    hasScrapeError: false,
  };
  const ignored = new IgnoredParts();
  for (const line of linesOf(text)) {
    if (line === '' || line.startsWith('#') || line.trim() === '') continue;
    const sample = parseSample(line);
    if (sample) series.get(sample.name)?.(draft, sample);
    else ignored.note(`a line that is no sample: ${JSON.stringify(line.slice(0, 80))}`);
  }
  const node = completeNode(draft.node);
  if (!node && draft.pods.size === 0) {
    const reason = draft.hasScrapeError
      ? 'the kubelet failed to read its own metrics'
      : 'the answer has no metrics';
    const [firstIgnored] = ignored.held;
    throw new Error(firstIgnored === undefined ? reason : `${reason}, but ${firstIgnored}`);
  }
  return {
    ...origin,
    stampResolution: 'millisecond',
    node,
    pods: [...draft.pods.values()].map(podPoints),
    ignored: ignored.held,
  };
}

/** One after another: millions of empty lines take no memory. */
function* linesOf(text: string): Generator<string, void, void> {
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
    yield text.slice(start, end);
    start = end + 1;
  }
  yield text.slice(start);
}

function containerOf(
  { pods }: AnswerDraft,
  { labels }: ExpositionSample,
): Draft<ContainerReport> | undefined {
  const [namespace, pod, container] = [labels.get('namespace'), labels.get('pod'), labels.get('container')];
  if (!namespace || !pod || !container) return undefined;
  const key = `${namespace}/${pod}`;
  let draft = pods.get(key);
  if (!draft) {
    draft = { namespace, name: pod, containers: new Map() };
    pods.set(key, draft);
  }
  let report = draft.containers.get(container);
  if (!report) {
    report = emptyReport(container);
    draft.containers.set(container, report);
  }
  return report;
}

function emptyReport(name: string): Draft<ContainerReport> {
  return {
    name,
    startedAtMs: undefined,
    takenAtMs: undefined,
    cpuCoreNanoseconds: undefined,
    memoryBytes: undefined,
  };
}

function completeNode(node: ContainerReport): NodePoint | undefined {
  const { takenAtMs, cpuCoreNanoseconds, memoryBytes } = node;
  if (takenAtMs === undefined || cpuCoreNanoseconds === undefined || memoryBytes === undefined)
    return undefined;
  return { ...node, takenAtMs, cpuCoreNanoseconds, memoryBytes, cpuUsageNanocores: undefined };
}

function podPoints({ namespace, name, containers }: PodDraft): PodPoints {
  return { namespace, name, uid: undefined, ...completePod([...containers.values()]) };
}

/** Seconds are printed to the nanosecond; the product is rounded back to it. */
function coreNanoseconds({ value }: ExpositionSample): number | undefined {
  return positive(Math.round(value * 1e9));
}

/** Kubelets stamp what they tell; those of virtual nodes need not, and mean the moment of their answer. */
function takenAtMs({ unstampedAtMs }: AnswerDraft, { timestampMs = unstampedAtMs }: ExpositionSample) {
  return positive(timestampMs);
}

/** A 0 is one: where swap is not known, there is no such series. */
function swapBytes({ value }: ExpositionSample): ExtraBytes | undefined {
  return value >= 0 && Number.isFinite(value) ? { swap: value } : undefined;
}

function positive(value: number): number | undefined {
  return value > 0 && Number.isFinite(value) ? value : undefined;
}
