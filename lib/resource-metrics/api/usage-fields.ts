import { goJson } from '#lib/apiserver/encoding/go-json.ts';
import type { JsonObject } from '#lib/apiserver/encoding/json-value.ts';
import type { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { formatTime, writeTime } from '#lib/apiserver/objects/meta-time.ts';
import { formatCpuNanocores, formatMemoryBytes } from '#lib/kubernetes/quantity.ts';
import { formatDuration } from '#lib/time/duration.ts';

/** What is used, of whatever. */
export interface Usage {
  readonly cpuNanocores: number;
  readonly memoryBytes: number;
  /** Bytes of whatever else, by the name of the resource. */
  readonly extraBytes?: Readonly<Record<string, number>> | undefined;
}

/** Which time a usage covers. */
export interface UsageSpan {
  readonly timestampMs: number;
  readonly windowMs: number;
}

/** A usage as a `ResourceList`: quantities by the names of their resources. */
export function usageFields(usage: Usage): JsonObject {
  if (usage.extraBytes) return Object.fromEntries(quantitiesOf(usage));
  return { cpu: formatCpuNanocores(usage.cpuNanocores), memory: formatMemoryBytes(usage.memoryBytes) };
}

/** The same as JSON on one line. */
export function usageText(usage: Usage): string {
  if (usage.extraBytes) return goJson(usageFields(usage));
  const { cpuNanocores, memoryBytes } = usage;
  return `{"cpu":"${formatCpuNanocores(cpuNanocores)}","memory":"${formatMemoryBytes(memoryBytes)}"}`;
}

/** Timestamp and window, which NodeMetrics and PodMetrics have alike. */
export function spanFields({ timestampMs, windowMs }: UsageSpan): JsonObject {
  return { timestamp: formatTime(timestampMs), window: formatDuration(windowMs) };
}

/** The same as JSON on one line, without the braces around it. */
export function spanText({ timestampMs, windowMs }: UsageSpan): string {
  return `"timestamp":"${formatTime(timestampMs)}","window":"${formatDuration(windowMs)}"`;
}

/** Writes timestamp and window, fields 2 and 3. */
export function writeSpan(message: ProtobufWriter, { timestampMs, windowMs }: UsageSpan): void {
  message.message(2, () => writeTime(message, timestampMs));
  message.message(3, () => message.uint(1, Math.round(windowMs * 1e6)));
}

/** Writes a `ResourceList` as the map of quantities that it is in protobuf. */
export function writeUsage(
  message: ProtobufWriter,
  { field, usage }: { readonly field: number; readonly usage: Usage },
): void {
  for (const [name, quantity] of quantitiesOf(usage)) writeQuantity(message, { field, name, quantity });
}

/** By name, as maps are encoded. */
function quantitiesOf({ cpuNanocores, memoryBytes, extraBytes }: Usage): readonly [string, string][] {
  const quantities: [string, string][] = [
    ['cpu', formatCpuNanocores(cpuNanocores)],
    ['memory', formatMemoryBytes(memoryBytes)],
  ];
  if (!extraBytes) return quantities;
  for (const [name, bytes] of Object.entries(extraBytes)) quantities.push([name, formatMemoryBytes(bytes)]);
  return quantities.sort(([a], [b]) => (a < b ? -1 : 1));
}

function writeQuantity(
  message: ProtobufWriter,
  entry: { readonly field: number; readonly name: string; readonly quantity: string },
): void {
  message.message(entry.field, () => {
    message.string(1, entry.name);
    message.message(2, () => message.string(1, entry.quantity));
  });
}
