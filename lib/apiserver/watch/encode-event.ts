import { type Document, documentJson } from '#lib/apiserver/encoding/document.ts';
import { goJson } from '#lib/apiserver/encoding/go-json.ts';
import { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { runtimeUnknown } from '#lib/apiserver/encoding/runtime-unknown.ts';
import type { TypeMeta } from '#lib/apiserver/resources/encode-object.ts';
import { metadataDocument } from '#lib/apiserver/resources/partial-metadata.ts';
import type { WatchEvent } from './watch-event.ts';

/** The formats in which events can follow one another. */
export type StreamFormat = 'json' | 'protobuf';

/** Encodes one event so that others can follow: in JSON on a line, in protobuf behind its length. */
export function encodeEvent(
  type: WatchEvent['type'] | 'ERROR',
  object: Document,
  format: StreamFormat,
): Buffer {
  if (format === 'json') return Buffer.from(`${goJson({ type, object: documentJson(object) })}\n`);
  const message = new ProtobufWriter();
  object.writeFields(message);
  const raw = runtimeUnknown(object, message.finish());
  message.string(1, type);
  message.message(2, () => {
    message.bytesHead(1, raw.length);
    message.raw(raw);
  });
  const event = message.finish();
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

/** Says to which version a watcher has come: an object of nothing but a version. */
export function bookmarkDocument(
  type: TypeMeta,
  { resourceVersion, isInitialEnd }: { readonly resourceVersion: string; readonly isInitialEnd: boolean },
): Document {
  const annotations = isInitialEnd ? { 'k8s.io/initial-events-end': 'true' } : {};
  return metadataDocument({ resourceVersion, annotations }, type);
}
