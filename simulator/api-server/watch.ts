import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Clock } from '#lib/time/clock.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import type { ObjectStore, StoreEvent } from '../objects/object-store.ts';
import { isSelected, type ListOptions, versionTooLarge } from './list.ts';
import { bookmarkObject, representObject, type ViewOptions } from './representation.ts';
import { expired } from './status.ts';

const BOOKMARK_INTERVAL_MS = 60_000;
// The real server bookmarks once more shortly before a watch times out.
const LAST_BOOKMARK_BEFORE_END_MS = 2_000;
const DEFAULT_TIMEOUT_MS = 30 * 60_000;
const SLOW_WATCHER_BYTES = 16 * 1024 * 1024;

/** A change as a watcher receives it. */
interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: unknown;
}

interface WatchOptions {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly list: ListOptions;
  readonly view: ViewOptions;
  /** Aborts when the caller disconnects or the server closes. */
  readonly signal: AbortSignal;
}

/**
 * Streams the changes of a resource, one JSON object per line, until the watch times out or the caller disconnects. A
 * watcher that reads too slowly is disconnected, as by the real server.
 *
 * @throws ApiError 504 for a future version, before anything is sent
 */
export async function serveWatch(response: ServerResponse, options: WatchOptions): Promise<void> {
  const { store, list, view } = options;
  const { storage } = view.type;
  if (list.resourceVersion !== undefined && list.resourceVersion > store.resourceVersion) {
    throw versionTooLarge(list.resourceVersion, store.resourceVersion);
  }
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.flushHeaders();
  const stream = new WatchStream(response);
  const past = initialEvents(options);
  using _subscription = store.subscribe((change) => {
    const event = change.resource === storage ? eventFor(change, options) : undefined;
    if (event) stream.send(event);
  });
  await stream.sendPast(past, options.signal);
  const isTooOld = past.at(-1)?.type === 'ERROR';
  if (!isTooOld) {
    await waitForEnd(options, () =>
      stream.send({ type: 'BOOKMARK', object: bookmarkObject(store.resourceVersion, view) }),
    );
  }
  response.end();
}

/** Lines to one watcher: first the initial events, with back pressure, then live events. */
class WatchStream {
  readonly #response: ServerResponse;
  #waiting: WatchEvent[] | undefined = [];

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  send(event: WatchEvent): void {
    if (this.#waiting) this.#waiting.push(event);
    else this.#write(event);
    if (this.#response.writableLength > SLOW_WATCHER_BYTES) this.#response.destroy();
  }

  async sendPast(events: Iterable<WatchEvent>, signal: AbortSignal): Promise<void> {
    for (const event of events) {
      if (signal.aborted) return;
      if (!this.#write(event)) await once(this.#response, 'drain', { signal }).catch(() => {});
    }
    for (const event of this.#waiting ?? []) this.#write(event);
    this.#waiting = undefined;
  }

  #write({ type, object }: WatchEvent): boolean {
    return this.#response.write(`${JSON.stringify({ type, object })}\n`);
  }
}

/**
 * The initial events of a watch: the current state, or the changes since a version; an error when the version is too
 * old.
 */
function initialEvents({ store, list, view }: WatchOptions): readonly WatchEvent[] {
  const { storage } = view.type;
  const { resourceVersion = 0 } = list;
  if (resourceVersion > 0) {
    const changes = store.eventsSince(storage, resourceVersion);
    if (changes) return changes.flatMap((change) => eventFor(change, { list, view }) ?? []);
    const error = expired(`too old resource version: ${resourceVersion} (${store.resourceVersion})`);
    return [{ type: 'ERROR', object: error.toStatus() }];
  }
  return store
    .list(storage)
    .items.filter((object) => isSelected(list, object))
    .map((object) => lazily('ADDED', () => representObject(object, view)));
}

/** An event whose object is built when it is written: an initial list may be very long. */
function lazily(type: WatchEvent['type'], makeObject: () => unknown): WatchEvent {
  return {
    type,
    get object() {
      return makeObject();
    },
  };
}

/** An object that starts or stops matching the selector is ADDED or DELETED for this watcher. */
function eventFor(
  change: StoreEvent,
  { list, view }: Pick<WatchOptions, 'list' | 'view'>,
): WatchEvent | undefined {
  const { object, previous } = change;
  const isIn = change.type !== 'DELETED' && isSelected(list, object);
  const wasIn = previous !== undefined && isSelected(list, previous);
  if (isIn) return { type: wasIn ? 'MODIFIED' : 'ADDED', object: representObject(object, view) };
  if (!wasIn || !previous) return undefined;
  return { type: 'DELETED', object: representObject(lastState(previous, change.resourceVersion), view) };
}

function lastState(object: KubernetesObject, version: number): KubernetesObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
}

/** Waits for the end of the watch, and sends bookmarks to watchers that allow them. */
async function waitForEnd({ clock, list, signal }: WatchOptions, sendBookmark: () => void): Promise<void> {
  const timeoutMs = list.timeoutSeconds ? list.timeoutSeconds * 1000 : DEFAULT_TIMEOUT_MS;
  const endsAtMs = clock.monotonicMs() + timeoutMs;
  const lastBookmarkAtMs = endsAtMs - LAST_BOOKMARK_BEFORE_END_MS;
  try {
    while (clock.monotonicMs() < endsAtMs) {
      const nowMs = clock.monotonicMs();
      const nextMs =
        nowMs < lastBookmarkAtMs ? Math.min(nowMs + BOOKMARK_INTERVAL_MS, lastBookmarkAtMs) : endsAtMs;
      await clock.sleep(nextMs - nowMs, { signal });
      if (list.allowWatchBookmarks && nextMs < endsAtMs) sendBookmark();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
