import {
  type EncodingPace,
  encodeLongText,
  indentedJsonFrame,
  indentItem,
} from '#lib/apiserver/encoding/list-document.ts';
import { OBJECTS_A_SLICE } from '#lib/concurrency/event-loop.ts';
import { formatCpuNanocores, formatMemoryBytes } from '#lib/kubernetes/quantity.ts';
import { printableLines } from '#lib/telemetry/printable.ts';
import { formatDuration } from '#lib/time/duration.ts';

/** What the debug endpoints return. */
export interface DebugResponse<Item> {
  /** How many there are that were asked for, and how many of them are served, whatever the limit. */
  readonly total: number;
  readonly served: number;
  readonly items: readonly Item[];
}

/**
 * Encodes a response as indented JSON, in time slices; long ones one after the other.
 *
 * @throws the signal's reason when it aborts meanwhile
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
  return items.length <= OBJECTS_A_SLICE ? encode() : pace.slices.runExclusively(encode, pace.signal);
}

function json(value: object): string {
  return printableLines(JSON.stringify(value, undefined, 2)); // who asks by curl reads it in a terminal
}

/** Usage as the pages of `/debug/` tell it: quantities as the API writes them. */
export interface UsageDescription {
  readonly cpu: string;
  readonly memory: string;
  readonly timestamp: string;
  readonly window: string;
}

/** Describes the usage of a node, or of a pod by the sum over its containers. */
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

/** A wall clock time in RFC 3339, as all of `/debug/` writes it. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Why a node or a pod is not served. */
export interface Reason {
  /** For programs; the table of docs/reference/troubleshooting.md is sorted by it. */
  readonly code: ReasonCode;
  /** A sentence with the names and numbers of this case. */
  readonly message: string;
}

/** A reason as `/debug/` tells it: with what to do about it. */
export interface RemediedReason extends Reason {
  readonly remedy: string;
}

const DOCTOR = 'Have `metrics-server doctor --node=NAME` look at the node: it says what to do.';
const FOLLOW =
  'If that lasts, see in the log why the API server cannot be followed, and have `metrics-server doctor` look at the permissions.';
const NEXT_RESPONSE = "Wait for the node's next response (--metric-resolution).";
const DESCRIBE = 'See why with `kubectl describe pod`: pods that do not run have no metrics.';
const RESTART_RUNTIME =
  'If it stays so for minutes, restart the container runtime on the node (`systemctl restart containerd`).';
const RESTART_KUBELET =
  'If it stays so for minutes, restart the kubelet on the node (`systemctl restart kubelet`).';

/** Every reason that there is, what it means, and what to do. */
export const REASONS = {
  NodesNotListed: { meaning: 'The API server has not listed yet which nodes there are.', remedy: FOLLOW },
  UnknownNode: {
    meaning: 'The API server knows no such node, or --node-selector leaves it out.',
    remedy: 'Compare the name with `kubectl get nodes`, and the labels of the node with --node-selector.',
  },
  NotScrapedYet: { meaning: "The node's kubelet has not been asked yet.", remedy: NEXT_RESPONSE },
  NodeFailing: {
    meaning: "The node's kubelet cannot be scraped, and its last response is too old to be served.",
    remedy: DOCTOR,
  },
  NodeNotAsked: {
    meaning:
      "The node's kubelet has waited to be asked for more than a cycle: this program has more TLS handshakes to do than it has time for.",
    remedy:
      'Give the server more CPU, or a longer --metric-resolution. It passes by itself where all connections had to be made again, as after a change of certificates.',
  },
  NodeUsageUnknown: {
    meaning: 'The kubelet responds, but does not know what its node uses.',
    remedy: RESTART_KUBELET,
  },
  WaitingForSecondReading: {
    meaning: 'CPU use takes two readings at least 10 s apart, and there are none such yet.',
    remedy: NEXT_RESPONSE,
  },
  SamplingStopped: {
    meaning: 'The kubelet has given the same sample for minutes: it has stopped sampling.',
    remedy: 'Restart the kubelet on the node (`systemctl restart kubelet`).',
  },
  PodsNotListed: { meaning: 'The API server has not listed yet which pods run.', remedy: FOLLOW },
  NoSuchPod: {
    meaning: 'The API server knows no such pod.',
    remedy: 'Compare namespace and name with `kubectl get pods -A`.',
  },
  NotRunning: { meaning: 'The pod does not run.', remedy: DESCRIBE },
  NotScheduled: { meaning: 'The pod has no node yet.', remedy: DESCRIBE },
  ReplacedPod: {
    meaning: 'The kubelet still reports another pod that had this name before.',
    remedy: NEXT_RESPONSE,
  },
  IncompletePod: {
    meaning: 'The kubelet lacks data of one of its containers, and a sum without it would be too small.',
    remedy: RESTART_RUNTIME,
  },
  NoContainers: {
    meaning: 'The kubelet reports no container of the pod.',
    remedy: RESTART_RUNTIME,
  },
  NotReportedYet: { meaning: 'The pod started after its node was scraped last.', remedy: NEXT_RESPONSE },
  NotReported: {
    meaning: 'No kubelet reports the pod.',
    remedy:
      'If its node fails, mend that first; if its kubelet responds, restart the kubelet (`systemctl restart kubelet`).',
  },
  NotPublishedYet: {
    meaning:
      'Its usage is known and will be served in a moment: the responses of a cycle are published together.',
    remedy: 'Ask again in a moment.',
  },
  LookupFailed: {
    meaning: 'Which node the pod is on could not be found out.',
    remedy: 'Ask again in a moment; if a permission is missing, apply `manifests/base/rbac.yaml` again.',
  },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly remedy: string }>>;

/** The name of a reason. */
export type ReasonCode = keyof typeof REASONS;

/** Adds what to do about it. */
export function withRemedy(reason: Reason): RemediedReason {
  return { ...reason, remedy: REASONS[reason.code].remedy };
}
