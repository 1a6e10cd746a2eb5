import { goJson } from '#lib/apiserver/encoding/go-json.ts';
import type { JsonObject } from '#lib/apiserver/encoding/json-value.ts';
import type { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { META_SCHEMA, mapOf, reference } from '#lib/apiserver/objects/schema.ts';
import type { ValueType } from '#lib/apiserver/objects/value-types.ts';
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

/** A usage as a `ResourceList`: quantities by the names of their resources, a map in protobuf. */
export const RESOURCE_LIST: ValueType<Usage> = {
  json: (usage) => {
    if (usage.extraBytes) return Object.fromEntries(quantitiesOf(usage)) as JsonObject;
    return { cpu: formatCpuNanocores(usage.cpuNanocores), memory: formatMemoryBytes(usage.memoryBytes) };
  },
  text: (usage) => {
    if (usage.extraBytes) return goJson(RESOURCE_LIST.json(usage));
    const { cpuNanocores, memoryBytes } = usage;
    return `{"cpu":"${formatCpuNanocores(cpuNanocores)}","memory":"${formatMemoryBytes(memoryBytes)}"}`;
  },
  write: (message, number, usage) => {
    for (const [name, quantity] of quantitiesOf(usage)) writeQuantity(message, number, { name, quantity });
  },
  schema: (description) => mapOf(description, reference(META_SCHEMA.quantity, undefined, {})),
  item: reference(META_SCHEMA.quantity, undefined, {}),
};

/** Milliseconds as `metav1.Duration`. */
export const DURATION: ValueType<number> = {
  json: formatDuration,
  text: (durationMs) => `"${formatDuration(durationMs)}"`,
  write: (message, number, durationMs) =>
    message.message(number, () => message.uint(1, Math.round(durationMs * 1e6))),
  schema: (description) => reference(META_SCHEMA.duration, description, 0),
  item: reference(META_SCHEMA.duration, undefined, 0),
};

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
  number: number,
  entry: { readonly name: string; readonly quantity: string },
): void {
  message.message(number, () => {
    message.string(1, entry.name);
    message.message(2, () => message.string(1, entry.quantity));
  });
}
