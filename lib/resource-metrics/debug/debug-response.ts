import {
  type EncodingPace,
  encodeLongText,
  indentedJsonFrame,
  indentItem,
} from '#lib/apiserver/encoding/list-document.ts';
import { OBJECTS_PER_SLICE } from '#lib/concurrency/event-loop.ts';
import { formatCpuNanocores, formatMemoryBytes } from '#lib/kubernetes/quantity.ts';
import { printableLines } from '#lib/telemetry/printable.ts';
import { formatDuration } from '#lib/time/duration.ts';

export interface DebugResponse<Item> {
  /** Number of matching items, and how many of them are served, regardless of the limit. */
  readonly total: number;
  readonly served: number;
  readonly items: readonly Item[];
}

/**
 * Encodes a response as indented JSON in time slices. Long responses are encoded one at a time.
 *
 * @throws the signal's reason if it aborts first
 */
export function encodeDebugResponse(
  { total, served, items }: DebugResponse<object>,
  pace: EncodingPace,
): Promise<Buffer> {
  const empty = json({ total, served, items: [] });
  if (items.length === 0) return Promise.resolve(Buffer.from(`${empty}\n`));
  const { before, between, after } = indentedJsonFrame(empty);
  const frame = { before, between, after: `${after}\n` };
  const encode = () => encodeLongText(frame, items, (item) => indentItem(json(item)), pace);
  return items.length <= OBJECTS_PER_SLICE ? encode() : pace.slices.runExclusively(encode, pace.signal);
}

function json(value: object): string {
  return printableLines(JSON.stringify(value, undefined, 2)); // safe to print in a terminal
}

/** Usage with quantities in the format of the API. */
export interface UsageDescription {
  readonly cpu: string;
  readonly memory: string;
  readonly timestamp: string;
  readonly window: string;
}

/** Describes the usage of a node, or the sum of a pod's containers. */
export function describeUsage(
  { timestampMs, windowMs }: { readonly timestampMs: number; readonly windowMs: number },
  parts: readonly { readonly cpuNanocores: number; readonly memoryBytes: number }[],
): UsageDescription {
  return {
    cpu: formatCpuNanocores(parts.reduce((sum, { cpuNanocores }) => sum + cpuNanocores, 0)),
    memory: formatMemoryBytes(parts.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0)),
    timestamp: isoTime(timestampMs),
    window: formatDuration(windowMs),
  };
}

/** Formats a time in RFC 3339 with milliseconds. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Why a node or a pod is not served. */
export interface Reason {
  /** Machine-readable. */
  readonly code: ReasonCode;
  /** A sentence with the names and numbers of the case. */
  readonly message: string;
  /** The node that the remedy names in place of `NAME`. */
  readonly node?: string;
}

/** A reason with its remedy, as in responses. */
export interface RemediedReason extends Omit<Reason, 'node'> {
  readonly remedy: string;
}

const DOCTOR = 'Run `metrics-server doctor --node=NAME`, which prints the remedy.';
const INFORMER =
  'If this persists, check the log for errors of the API server, and run `metrics-server doctor` to check the permissions.';
const NEXT_RESPONSE = "Wait for the node's next response (--metric-resolution).";
const DESCRIBE = 'Run `kubectl describe pod` to find the cause. Pods that do not run have no metrics.';
const RESTART_RUNTIME =
  'If this persists for minutes, restart the container runtime on the node (`systemctl restart containerd`).';
const RESTART_KUBELET =
  'If this persists for minutes, restart the kubelet on the node (`systemctl restart kubelet`).';

/** By code; docs/reference/troubleshooting.md has the same table. */
export const REASONS = {
  NodesNotListed: { meaning: 'The nodes have not been listed yet.', remedy: INFORMER },
  UnknownNode: {
    meaning: 'The API server has no such node, or --node-selector does not select it.',
    remedy: 'Compare the name with `kubectl get nodes`, and the labels of the node with --node-selector.',
  },
  NotScrapedYet: { meaning: 'The kubelet of the node has not been scraped yet.', remedy: NEXT_RESPONSE },
  NodeFailing: {
    meaning: 'The kubelet of the node cannot be scraped, and its last response is too old to be served.',
    remedy: DOCTOR,
  },
  NodeScrapeDelayed: {
    meaning:
      'The scrape of the node has waited for more than a cycle, because the server cannot complete TLS handshakes fast enough.',
    remedy:
      'Give the server more CPU, or raise --metric-resolution. If a change of certificates closed all connections, the delay ends by itself.',
  },
  NodeUsageUnknown: {
    meaning: 'The kubelet responds, but does not report the usage of its node.',
    remedy: RESTART_KUBELET,
  },
  WaitingForSecondReading: {
    meaning: 'CPU usage requires two readings at least 10 s apart, which are not available yet.',
    remedy: NEXT_RESPONSE,
  },
  SamplingStopped: {
    meaning: 'The kubelet has returned the same sample for minutes: it has stopped sampling.',
    remedy: 'Restart the kubelet on the node (`systemctl restart kubelet`).',
  },
  PodsNotListed: { meaning: 'The running pods have not been listed yet.', remedy: INFORMER },
  NoSuchPod: {
    meaning: 'The API server has no such pod.',
    remedy: 'Compare namespace and name with `kubectl get pods -A`.',
  },
  NotRunning: { meaning: 'The pod does not run.', remedy: DESCRIBE },
  NotScheduled: { meaning: 'The pod is not scheduled to a node yet.', remedy: DESCRIBE },
  ReplacedPod: {
    meaning: 'The kubelet still reports a previous pod of the same name.',
    remedy: NEXT_RESPONSE,
  },
  IncompletePod: {
    meaning: 'The kubelet has no data for a container, so the sum for the pod would be too small.',
    remedy: RESTART_RUNTIME,
  },
  NoContainers: {
    meaning: 'The kubelet reports no container of the pod.',
    remedy: RESTART_RUNTIME,
  },
  NotReportedYet: { meaning: 'The pod started after the last scrape of its node.', remedy: NEXT_RESPONSE },
  NotReported: {
    meaning: 'No kubelet reports the pod.',
    remedy:
      'If the node of the pod cannot be scraped, fix this first. If the kubelet responds, restart the kubelet (`systemctl restart kubelet`).',
  },
  NotPublishedYet: {
    meaning:
      'The usage is available and will be served in a moment: the responses of a cycle are published together.',
    remedy: 'Query again in a moment.',
  },
  LookupFailed: {
    meaning: 'The node of the pod cannot be looked up.',
    remedy: 'Query again in a moment. If a permission is missing, apply `manifests/base/rbac.yaml` again.',
  },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly remedy: string }>>;

export type ReasonCode = keyof typeof REASONS;

export function withRemedy({ node, ...reason }: Reason): RemediedReason {
  const { remedy } = REASONS[reason.code];
  return { ...reason, remedy: node === undefined ? remedy : remedy.replace('NAME', () => node) };
}
