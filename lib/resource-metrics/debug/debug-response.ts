import {
  type EncodingPace,
  encodeLongText,
  indentedJsonFrame,
  indentItem,
} from '#lib/apiserver/encoding/long-text.ts';
import { OBJECTS_A_SLICE } from '#lib/concurrency/time-slices.ts';
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
