import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** Of which object a scaler tells something. */
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
  /** What one replica is to have; 0 where the scaler says none. */
  readonly target: number;
}

/** More metrics, or values of one, are an error. */
const MOST = 100;
/** One that tells whether an object is active has two bytes. Far longer ones, pushed all the time, would cost the loop. */
const MAX_ACTIVITY_BYTES = 1024;
const LONGEST_NAME = 1000;

/** `ScaledObjectRef`: name 1, namespace 2, map of metadata 3. */
export function encodeObjectRef(object: ScaledObjectRef): Buffer {
  return Buffer.from(writeObjectRef(new BinaryWriter(), object).finish());
}

/** `GetMetricsRequest`: object 1, name of the metric 2. */
export function encodeMetricsRequest({
  object,
  metricName,
}: {
  readonly object: ScaledObjectRef;
  readonly metricName: string;
}): Buffer {
  const writer = new BinaryWriter();
  writeObjectRef(writer.tag(1, WireType.LengthDelimited).fork(), object).join();
  return Buffer.from(writer.tag(2, WireType.LengthDelimited).string(metricName).finish());
}

/** `IsActiveResponse`: whether it is, 1. @throws what cannot be read */
export function decodeIsActive(bytes: Uint8Array): boolean {
  if (bytes.length > MAX_ACTIVITY_BYTES)
    throw new Error(`IsActiveResponse has ${bytes.length} bytes, more than ${MAX_ACTIVITY_BYTES}`);
  let isActive = false;
  eachField(bytes, (number, reader) => {
    if (number !== 1) return false;
    isActive = reader.bool();
    return true;
  });
  return isActive;
}

/** `GetMetricSpecResponse`: metrics 1. @throws what cannot be read */
export function decodeMetricSpecs(bytes: Uint8Array): readonly ScalerMetric[] {
  return decodeNamed(bytes).map(({ name, number }) => ({ name, target: number }));
}

/** `GetMetricsResponse`: values 1. @throws what cannot be read */
export function decodeMetricValues(bytes: Uint8Array): readonly number[] {
  return decodeNamed(bytes).map(({ number }) => number);
}

function writeObjectRef(writer: BinaryWriter, { name, namespace, metadata }: ScaledObjectRef): BinaryWriter {
  const text = (number: number, value: string) => {
    if (value !== '') writer.tag(number, WireType.LengthDelimited).string(value);
  };
  text(1, name);
  text(2, namespace);
  for (const [key, value] of Object.entries(metadata)) {
    writer.tag(3, WireType.LengthDelimited).fork();
    text(1, key);
    text(2, value);
    writer.join();
  }
  return writer;
}

/** Names with a number each, which is an int64 in field 2 or, in newer scalers, a double in field 3. */
function decodeNamed(bytes: Uint8Array): readonly { readonly name: string; readonly number: number }[] {
  const found: { name: string; number: number }[] = [];
  eachField(bytes, (number, reader) => {
    if (number !== 1) return false;
    if (found.length === MOST) throw new Error(`it tells more than ${MOST} metrics`);
    let [name, whole, float] = ['', 0, 0];
    eachField(reader.bytes(), (inner, innerReader) => {
      if (inner === 1) name = nameIn(innerReader.bytes());
      else if (inner === 2) whole = Number(innerReader.int64());
      else if (inner === 3) float = innerReader.double();
      return inner >= 1 && inner <= 3;
    });
    const value = float === 0 ? whole : float;
    if (!Number.isFinite(value)) throw new Error(`${JSON.stringify(name)} is ${value}, no number`);
    found.push({ name, number: value });
    return true;
  });
  return found;
}

function nameIn(bytes: Uint8Array): string {
  if (bytes.length > LONGEST_NAME) throw new Error(`a name is longer than ${LONGEST_NAME} bytes`);
  return Buffer.from(bytes).toString('utf8');
}

/** Groups are from before proto3, and lie in one another as deep as anybody likes. @throws an Error for what is broken off */
function eachField(bytes: Uint8Array, take: (number: number, reader: BinaryReader) => boolean): void {
  const reader = new BinaryReader(bytes);
  try {
    while (reader.pos < reader.len) {
      const [number, type] = reader.tag();
      if (type === WireType.StartGroup || type === WireType.EndGroup)
        throw new Error('it is no message of proto3');
      if (!take(number, reader)) reader.skip(type, number);
    }
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new Error(`it is no message of proto3: ${cause.message}`, { cause });
    throw cause;
  }
}
