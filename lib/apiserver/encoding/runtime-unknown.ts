import { ProtobufWriter } from './protobuf-writer.ts';

const MAGIC = Buffer.from('k8s\0');

/**
 * Puts a message into the envelope of Kubernetes' protobuf: `k8s\0` and a `runtime.Unknown`.
 *
 * @param message may come in pieces, which are not copied
 */
export function runtimeUnknown(
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  ...message: readonly Buffer[]
): readonly Buffer[] {
  const writer = new ProtobufWriter();
  writer.raw(MAGIC);
  writer.message(1, () => {
    writer.string(1, apiVersion);
    writer.string(2, kind);
  });
  writer.bytesHead(
    2,
    message.reduce((length, piece) => length + piece.length, 0),
  );
  const head = writer.finish();
  writer.string(3, ''); // contentEncoding
  writer.string(4, ''); // contentType
  return [head, ...message, writer.finish()];
}
