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

/** The object that a scaler is called for. */
export interface ScaledObjectRef {
  readonly name: string;
  readonly namespace: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** What of it must not be told, whatever the scaler says. */
  readonly secrets: readonly string[];
}

/** A metric that a scaler has. */
export interface ScalerMetric {
  readonly name: string;
  /** The target of one replica; 0 where the scaler gives none. */
  readonly target: number;
}

/** More metrics, or values of one, are an error. */
const MAX_METRICS = 100;
/** A response about whether an object is active has two bytes. Far longer ones, pushed all the time, would cost the event loop. */
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

/** Decodes an `IsActiveResponse`. @throws an Error where it is none */
export function decodeIsActive(bytes: Uint8Array): boolean {
  if (bytes.length > MAX_ACTIVITY_BYTES)
    throw new Error(`IsActiveResponse has ${bytes.length} bytes, more than ${MAX_ACTIVITY_BYTES}`);
  return decode(IsActiveResponseSchema, bytes).result;
}

/** Decodes a `GetMetricSpecResponse`. @throws an Error where it is none */
export function decodeMetricSpecs(bytes: Uint8Array): readonly ScalerMetric[] {
  return decode(GetMetricSpecResponseSchema, bytes).metricSpecs.map((spec) => ({
    name: spec.metricName,
    target: toNumber(spec.metricName, { whole: spec.targetSize, float: spec.targetSizeFloat }),
  }));
}

/** Decodes a `GetMetricsResponse`. @throws an Error where it is none */
export function decodeMetricValues(bytes: Uint8Array): readonly number[] {
  return decode(GetMetricsResponseSchema, bytes).metricValues.map((value) =>
    toNumber(value.metricName, { whole: value.metricValue, float: value.metricValueFloat }),
  );
}

function objectRef({ name, namespace, metadata }: ScaledObjectRef): ScaledObjectRefMessage {
  const message = create(ScaledObjectRefSchema, { name, namespace });
  message.scalerMetadata = metadata; // as it is: a copy would drop the key `__proto__`
  return message;
}

/** Newer scalers give a double. @throws where that is not finite */
function toNumber(
  name: string,
  { whole, float }: { readonly whole: bigint; readonly float: number },
): number {
  const value = float === 0 ? Number(whole) : float;
  if (!Number.isFinite(value)) throw new Error(`${JSON.stringify(name)} is ${value}, no number`);
  return value;
}

function decode<T extends DescMessage>(schema: T, bytes: Uint8Array): MessageShape<T> {
  try {
    checkFields(schema, bytes);
    return fromBinary(schema, bytes, { readUnknownFields: false });
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new Error(`it is no message of proto3: ${cause.message}`, { cause });
    throw cause;
  }
}

/**
 * Bounds a message before objects are made of it: 1 MiB has room for half a million empty metrics. Groups, which proto3 has not,
 * nest as deep as a message is long, and the library reads a field of another type than its own as if it were of its own.
 */
function checkFields(schema: DescMessage, bytes: Uint8Array): void {
  const reader = new BinaryReader(bytes);
  let metrics = 0;
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type === WireType.StartGroup || type === WireType.EndGroup)
      throw new Error('it is no message of proto3');
    const field = schema.fields.find((one) => one.number === number);
    if (field && type !== wireTypeOf(field))
      throw new Error(`it is no message of proto3: field ${field.name} has wire type ${type}`);
    if (field?.message) {
      if (++metrics > MAX_METRICS) throw new Error(`it tells more than ${MAX_METRICS} metrics`);
      checkFields(field.message, reader.bytes());
    } else if (field?.scalar === ScalarType.STRING) {
      if (reader.bytes().length > MAX_NAME_BYTES)
        throw new Error(`a name is longer than ${MAX_NAME_BYTES} bytes`);
    } else reader.skip(type, number);
  }
}

/** Of the types that responses have. */
function wireTypeOf({ scalar }: DescField): WireType {
  if (scalar === ScalarType.BOOL || scalar === ScalarType.INT64) return WireType.Varint;
  return scalar === ScalarType.DOUBLE ? WireType.Bit64 : WireType.LengthDelimited;
}
