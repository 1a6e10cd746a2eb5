import { ProtobufWriter } from './protobuf-writer.ts';

const MAGIC = Buffer.from('k8s\0');

interface Type {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Puts a message into the envelope of Kubernetes' protobuf: `k8s\0` and a `runtime.Unknown`. */
export function runtimeUnknown(type: Type, message: Buffer): Buffer {
  const { head, tail } = envelope(type, message.length);
  return Buffer.concat([head, message, tail]);
}

/** What {@link runtimeUnknown} puts before a message of so many bytes, and behind it. */
export function envelope(
  { apiVersion, kind }: Type,
  messageBytes: number,
): { readonly head: Buffer; readonly tail: Buffer } {
  const writer = new ProtobufWriter();
  writer.raw(MAGIC);
  writer.message(1, () => {
    writer.string(1, apiVersion);
    writer.string(2, kind);
  });
  writer.bytesHead(2, messageBytes);
  const head = writer.finish();
  writer.string(3, ''); // contentEncoding
  writer.string(4, ''); // contentType
  return { head, tail: writer.finish() };
}
