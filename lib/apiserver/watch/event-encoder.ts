import { type Document, documentJson } from '#lib/apiserver/encoding/document.ts';
import { goJson } from '#lib/apiserver/encoding/json.ts';
import { wholeDocument } from '#lib/apiserver/encoding/list-document.ts';
import { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { runtimeUnknown } from '#lib/apiserver/encoding/runtime-unknown.ts';
import type { ObjectResource } from '#lib/apiserver/resources/api-group.ts';
import {
  type IncludedObject,
  type MetaConversion,
  metadataDocument,
  partialObjectMetadata,
  tableDocument,
} from '#lib/apiserver/resources/conversions.ts';
import { objectDocument, type TypeMeta } from '#lib/apiserver/resources/encode-object.ts';
import type { ServedObject } from '#lib/apiserver/resources/served-object.ts';
import type { WatchEvent } from '#lib/apiserver/resources/watch-rounds.ts';

/** As what a watcher is sent objects. */
export interface EventRepresentation {
  readonly format: StreamFormat;
  readonly resource: ObjectResource;
  /** Of the objects themselves. */
  readonly itemType: TypeMeta;
  /** What is made of them instead, if anything. */
  readonly asked: MetaConversion | undefined;
  /** What the rows of Tables carry. */
  readonly include: IncludedObject;
}

/** Encodes the events of one watch. Only the first of its Tables has columns: the others are rows of the same. */
export class EventEncoder {
  readonly #representation: EventRepresentation;
  #hasSentColumns = false;

  constructor(representation: EventRepresentation) {
    this.#representation = representation;
  }

  encode(event: WatchEvent): Buffer {
    return encodeEvent(event.type, this.#documentOf(event), this.#representation.format);
  }

  #documentOf(event: WatchEvent): Document {
    const { itemType, asked } = this.#representation;
    const { resourceVersion } = event;
    if (asked?.kind === 'Table') {
      return this.#table(asked.apiVersion, event.type === 'BOOKMARK' ? [] : [event.object], resourceVersion);
    }
    if (event.type === 'BOOKMARK') return bookmarkDocument(asked ?? itemType, event);
    const object = event.type === 'DELETED' ? atVersion(event.object, resourceVersion) : event.object;
    return asked ? partialObjectMetadata(object, asked.apiVersion) : objectDocument(object, itemType);
  }

  #table(apiVersion: string, items: readonly ServedObject[], resourceVersion: string): Document {
    const { resource, itemType, include } = this.#representation;
    const describesColumns = !this.#hasSentColumns;
    this.#hasSentColumns = true;
    const { columns } = resource;
    const metadata = { resourceVersion };
    return wholeDocument(
      tableDocument({ apiVersion, metadata, columns, describesColumns, items, itemType, include }),
    );
  }
}

/** An object that has gone is as it was, but of the version in which it went. */
function atVersion(object: ServedObject, resourceVersion: string): ServedObject {
  const { name, namespace, labels, creationTimestampMs, content, contentType } = object;
  return { name, namespace, labels, creationTimestampMs, resourceVersion, content, contentType };
}

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
