import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  type MessageShape,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import {
  GetMetricSpecResponseSchema,
  GetMetricsRequestSchema,
  GetMetricsResponseSchema,
  IsActiveResponseSchema,
  type ScaledObjectRef as ScaledObjectRefMessage,
  ScaledObjectRefSchema,
} from './external-scaler_pb.ts';

export interface ScaledObjectRef {
  readonly name: string;
  readonly namespace: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Secrets to redact in messages of the scaler. */
  readonly secrets: readonly string[];
}

export interface ScalerMetric {
  readonly name: string;
  /** Target per replica; 0 if the scaler has none. */
  readonly target: number;
}

/** Limit of metrics, and of values of a metric. */
const MAX_METRICS = 100;
/** An `IsActiveResponse` has two bytes. Far longer ones, pushed continuously, would block the event loop. */
const MAX_ACTIVITY_BYTES = 1024;
const MAX_NAME_BYTES = 1000;

/** Encodes a `ScaledObjectRef`. */
export function encodeObjectRef(object: ScaledObjectRef): Buffer {
  return Buffer.from(toBinary(ScaledObjectRefSchema, objectRef(object)));
}

/** Encodes a `GetMetricsRequest`. */
export function encodeMetricsRequest({
  object,
  metricName,
}: {
  readonly object: ScaledObjectRef;
  readonly metricName: string;
}): Buffer {
  const request = create(GetMetricsRequestSchema, { scaledObjectRef: objectRef(object), metricName });
  return Buffer.from(toBinary(GetMetricsRequestSchema, request));
}

/** Decodes an `IsActiveResponse`. @throws an Error if it is invalid */
export function decodeIsActive(bytes: Uint8Array): boolean {
  if (bytes.length > MAX_ACTIVITY_BYTES)
    throw new Error(`IsActiveResponse has ${bytes.length} bytes, more than ${MAX_ACTIVITY_BYTES}`);
  return decode(IsActiveResponseSchema, bytes).result;
}

/** Decodes a `GetMetricSpecResponse`. @throws an Error if it is invalid */
export function decodeMetricSpecs(bytes: Uint8Array): readonly ScalerMetric[] {
  return decode(GetMetricSpecResponseSchema, bytes).metricSpecs.map((spec) => ({
    name: spec.metricName,
    target: toNumber(spec.metricName, { whole: spec.targetSize, float: spec.targetSizeFloat }),
  }));
}

/** Decodes a `GetMetricsResponse`. @throws an Error if it is invalid */
export function decodeMetricValues(bytes: Uint8Array): readonly number[] {
  return decode(GetMetricsResponseSchema, bytes).metricValues.map((value) =>
    toNumber(value.metricName, { whole: value.metricValue, float: value.metricValueFloat }),
  );
}

function objectRef({ name, namespace, metadata }: ScaledObjectRef): ScaledObjectRefMessage {
  const message = create(ScaledObjectRefSchema, { name, namespace });
  message.scalerMetadata = metadata; // not copied, which would drop the key `__proto__`
  return message;
}

/** Newer scalers send a double. @throws if it is not finite */
function toNumber(
  name: string,
  { whole, float }: { readonly whole: bigint; readonly float: number },
): number {
  const value = float === 0 ? Number(whole) : float;
  if (!Number.isFinite(value)) throw new Error(`${JSON.stringify(name)} is ${value}, not a number`);
  return value;
}

function decode<T extends DescMessage>(schema: T, bytes: Uint8Array): MessageShape<T> {
  try {
    checkFields(schema, bytes);
    return fromBinary(schema, bytes, { readUnknownFields: false });
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new Error(`not a valid proto3 message: ${cause.message}`, { cause });
    throw cause;
  }
}

/**
 * Checks a message before objects are created: 1 MiB can contain half a million empty metrics. Rejects groups, which
 * are not in proto3 and may be deeply nested, and fields of a wrong type, which the library would accept.
 */
function checkFields(schema: DescMessage, bytes: Uint8Array): void {
  const reader = new BinaryReader(bytes);
  let metrics = 0;
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type === WireType.StartGroup || type === WireType.EndGroup)
      throw new Error('not a valid proto3 message');
    const field = schema.fields.find((one) => one.number === number);
    if (field && type !== wireTypeOf(field))
      throw new Error(`not a valid proto3 message: field ${field.name} has wire type ${type}`);
    if (field?.message) {
      if (++metrics > MAX_METRICS) throw new Error(`the response has more than ${MAX_METRICS} metrics`);
      checkFields(field.message, reader.bytes());
    } else if (field?.scalar === ScalarType.STRING) {
      if (reader.bytes().length > MAX_NAME_BYTES)
        throw new Error(`a name is longer than ${MAX_NAME_BYTES} bytes`);
    } else reader.skip(type, number);
  }
}

/** For the scalar types of responses. */
function wireTypeOf({ scalar }: DescField): WireType {
  if (scalar === ScalarType.BOOL || scalar === ScalarType.INT64) return WireType.Varint;
  return scalar === ScalarType.DOUBLE ? WireType.Bit64 : WireType.LengthDelimited;
}
