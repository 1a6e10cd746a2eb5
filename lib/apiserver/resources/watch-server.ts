import { Readable } from 'node:stream';
import { type Document, documentJson, runtimeUnknown } from '#lib/apiserver/encoding/document.ts';
import { goJson } from '#lib/apiserver/encoding/json.ts';
import { wholeDocument } from '#lib/apiserver/encoding/list-document.ts';
import { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import type { ApiContext } from '#lib/apiserver/http/api-context.ts';
import { tooManyRequests } from '#lib/apiserver/http/status-error.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ObjectResource } from './api-group.ts';
import {
  type IncludedObject,
  type MetaConversion,
  metadataDocument,
  partialObjectMetadata,
  tableDocument,
} from './conversions.ts';
import { objectDocument, type TypeMeta } from './encode-object.ts';
import type { ServedObject } from './served-object.ts';
import { type WatchEvent, type WatchStart, type WatchSubject, watchRounds } from './watch-rounds.ts';

interface WatchServerOptions {
  readonly clock: Clock;
  /** Aborts when the server drains: watches end, and their clients reconnect elsewhere. */
  readonly draining: AbortSignal;
  /** A number in [0, 1), so that watches that began together do not all end together. */
  readonly random: () => number;
  /** Every watcher retains a state: unbounded, watchers could exhaust the memory. */
  readonly maxWatchers: number;
  /** Called for each watcher that was one too many, or was dropped because it did not read. */
  readonly onRefused: (reason: 'watchers' | 'not_read') => void;
}

export const DEFAULT_MAX_WATCHERS = 1_000;

interface Watch {
  readonly start: WatchStart;
  readonly subject: WatchSubject;
  readonly encoder: EventEncoder;
  readonly mediaType: string;
  /** 0 for the server's default. */
  readonly timeoutSeconds: number;
}

const RETRY_AFTER_SECONDS = 1;
/** Kubernetes' servers let watches run for this long, and up to twice as long. */
const DEFAULT_DURATION_MS = 30 * 60_000;
/** A watcher that reads nothing for this long is dropped. */
const STALL_MS = 60_000;
/** Events are sent together up to this size. */
const CHUNK_BYTES = 16 * 1024;

/** Streams events to watchers, each as fast as it reads. */
export class WatchServer {
  readonly #options: WatchServerOptions;
  #watchers = 0;

  constructor(options: WatchServerOptions) {
    this.#options = options;
  }

  /**
   * Responds with a stream that ends at its timeout, when the client leaves, or when the server drains.
   *
   * @throws {StatusError} 429 when there are too many watchers already
   */
  serve(context: ApiContext, watch: Watch): void {
    const { clock, draining, random, maxWatchers, onRefused } = this.#options;
    if (this.#watchers >= maxWatchers) {
      onRefused('watchers');
      throw tooManyRequests(RETRY_AFTER_SECONDS);
    }
    this.#watchers++;
    const ending = new AbortController();
    const end = () => ending.abort();
    context.state.end.whenOver(() => {
      this.#watchers--;
      end();
    });
    draining.addEventListener('abort', end, { signal: ending.signal });
    if (draining.aborted) end();
    const durationMs =
      watch.timeoutSeconds > 0 ? watch.timeoutSeconds * 1000 : DEFAULT_DURATION_MS * (1 + random());
    clock.sleep(durationMs, { signal: ending.signal }).then(end, () => {}); // it ended otherwise

    context.state.isEventStream = true;
    context.status = 200;
    context.set('Content-Type', watch.mediaType);
    context.flushHeaders(); // confirms the watch to the client, though there may be no event for long
    const drop = () => {
      onRefused('not_read');
      context.res.destroy();
    };
    context.body = Readable.from(this.#chunks(watch, { signal: ending.signal, drop }), {
      objectMode: false,
      highWaterMark: 1, // one chunk at most is buffered for a client that does not read
    });
  }

  async *#chunks(
    { start, subject, encoder }: Watch,
    { signal, drop }: { readonly signal: AbortSignal; readonly drop: () => void },
  ): AsyncGenerator<Buffer, void, void> {
    let pieces: Buffer[] = [];
    let bytes = 0;
    for await (const round of watchRounds(start, subject, signal)) {
      for (const event of round) {
        const piece = encoder.encode(event);
        pieces.push(piece);
        bytes += piece.length;
        if (bytes < CHUNK_BYTES) continue;
        yield* this.#taken(Buffer.concat(pieces), drop);
        [pieces, bytes] = [[], 0];
        if (signal.aborted) return;
      }
      if (bytes > 0) yield* this.#taken(Buffer.concat(pieces), drop);
      [pieces, bytes] = [[], 0];
    }
  }

  /** Yields a chunk, and drops the watcher if it is not read in time. */
  *#taken(chunk: Buffer, drop: () => void): Generator<Buffer, void, void> {
    const timer = new AbortController();
    this.#options.clock.sleep(STALL_MS, { signal: timer.signal }).then(drop, () => {}); // it was read in time
    try {
      yield chunk;
    } finally {
      timer.abort();
    }
  }
}

/** How a watcher receives objects. */
interface EventRepresentation {
  readonly format: StreamFormat;
  readonly resource: ObjectResource;
  /** Type of the objects themselves. */
  readonly itemType: TypeMeta;
  /** The requested conversion, if any. */
  readonly conversion: MetaConversion | undefined;
  /** What the rows of Tables include. */
  readonly include: IncludedObject;
}

/** Encodes the events of one watch. Only the first of its Tables has columns: the others add rows to it. */
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
    const { itemType, conversion } = this.#representation;
    const { resourceVersion } = event;
    if (conversion?.kind === 'Table') {
      return this.#table(
        conversion.apiVersion,
        event.type === 'BOOKMARK' ? [] : [event.object],
        resourceVersion,
      );
    }
    if (event.type === 'BOOKMARK') return bookmarkDocument(conversion ?? itemType, event);
    const object = event.type === 'DELETED' ? atVersion(event.object, resourceVersion) : event.object;
    return conversion
      ? partialObjectMetadata(object, conversion.apiVersion)
      : objectDocument(object, itemType);
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

/** A deleted object with the version of its deletion. */
function atVersion(object: ServedObject, resourceVersion: string): ServedObject {
  const { name, namespace, labels, creationTimestampMs, content, contentType } = object;
  return { name, namespace, labels, creationTimestampMs, resourceVersion, content, contentType };
}

type StreamFormat = 'json' | 'protobuf';

/** Encodes one event of a stream: in JSON as a line, in protobuf after its length. */
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

/** An object with a version alone, up to which a watcher has received all changes. */
export function bookmarkDocument(
  type: TypeMeta,
  { resourceVersion, isInitialEnd }: { readonly resourceVersion: string; readonly isInitialEnd: boolean },
): Document {
  const annotations = isInitialEnd ? { 'k8s.io/initial-events-end': 'true' } : {};
  return metadataDocument({ resourceVersion, annotations }, type);
}
