import type { JsonObject } from '#lib/apiserver/encoding/json-value.ts';
import type { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { formatTime, writeTime } from '#lib/apiserver/objects/meta-time.ts';
import type { MetricValue } from '#lib/collection/metrics-provider.ts';

/** Time, window and value, which values of all groups have. */
export function valueFields(
  { takenAtMs, windowSeconds, value }: MetricValue,
  windowField: 'window' | 'windowSeconds',
): JsonObject {
  return {
    timestamp: takenAtMs === undefined ? null : formatTime(takenAtMs),
    ...(windowSeconds === undefined ? {} : { [windowField]: windowSeconds }),
    value,
  };
}

/** The same as fields 3, 4 and 5 of a message. */
export function writeValueFields(
  message: ProtobufWriter,
  { takenAtMs, windowSeconds, value }: MetricValue,
): void {
  message.message(3, () => {
    if (takenAtMs !== undefined) writeTime(message, takenAtMs);
  });
  if (windowSeconds !== undefined) message.uint(4, windowSeconds);
  message.message(5, () => message.string(1, value));
}
