import type { ObjectResource } from '#lib/apiserver/api-group.ts';
import type { Document } from '#lib/apiserver/encoding/document.ts';
import { wholeDocument } from '#lib/apiserver/encoding/list-document.ts';
import type { ServedObject } from '#lib/apiserver/objects/served-object.ts';
import type { MetaConversion } from '#lib/apiserver/resources/conversion.ts';
import { objectDocument, type TypeMeta } from '#lib/apiserver/resources/encode-object.ts';
import { partialObjectMetadata } from '#lib/apiserver/resources/partial-metadata.ts';
import { type IncludedObject, tableDocument } from '#lib/apiserver/resources/table.ts';
import { bookmarkDocument, encodeEvent, type StreamFormat } from './encode-event.ts';
import type { WatchEvent } from './watch-event.ts';

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
