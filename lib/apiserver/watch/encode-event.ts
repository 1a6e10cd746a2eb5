import { type Document, documentJson } from '#lib/apiserver/encoding/document.ts';
import { goJson } from '#lib/apiserver/encoding/go-json.ts';
import type { JsonObject } from '#lib/apiserver/encoding/json-value.ts';
import { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { runtimeUnknown } from '#lib/apiserver/encoding/runtime-unknown.ts';
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
  type: { readonly kind: string; readonly apiVersion: string },
  { resourceVersion, isInitialEnd }: { readonly resourceVersion: string; readonly isInitialEnd: boolean },
): Document {
  const annotations: JsonObject = isInitialEnd ? { [INITIAL_EVENTS_END]: 'true' } : {};
  return {
    ...type,
    fields: () => ({ metadata: { resourceVersion, ...(isInitialEnd && { annotations }) } }),
    writeFields: (message) =>
      message.message(1, () => {
        for (const field of [1, 2, 3, 4, 5]) message.string(field, '');
        message.string(6, resourceVersion);
        message.uint(7, 0);
        message.message(8, () => {}); // created at no time
        if (isInitialEnd) {
          message.message(12, () => {
            message.string(1, INITIAL_EVENTS_END);
            message.string(2, 'true');
          });
        }
      }),
  };
}

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';
