import { badRequest, expired } from '#lib/apiserver/http/status-error.ts';
import { goQuote } from '#lib/kubernetes/selectors/go-quote.ts';
import type { ListOptions } from './list-options.ts';
import type { ObjectBlock, ServedObject, Watchable } from './served-object.ts';

/** The resource and selection of a watch. */
export interface WatchSubject {
  readonly watchable: Watchable;
  /** `undefined` for all. */
  readonly namespace: string | undefined;
  readonly isSelected: (object: ServedObject) => boolean;
  /** Whether the watcher also gets the version when none of its objects has changed. */
  readonly sendsBookmarks: boolean;
}

/**
 * Yields changes from a start on, a round of events for each version, until the signal aborts. If a watcher takes long
 * over one round, the next has the changes since then, not all intermediate ones, so nothing accumulates.
 */
export async function* watchRounds(
  start: WatchStart,
  subject: WatchSubject,
  signal: AbortSignal,
): AsyncGenerator<Iterable<WatchEvent>, void, void> {
  const { watchable, namespace } = subject;
  let { sent, version } = start;
  let isInitialEnd = start.marksInitialEnd;
  while (!signal.aborted) {
    const next = watchable.version();
    const current = watchable.current(namespace);
    yield round({ sent, current }, { subject, version: next, isInitialEnd, isNew: next !== version });
    isInitialEnd = false;
    [sent, version] = [current, next];
    try {
      await watchable.changed(version, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

function* round(
  { sent, current }: { readonly sent: WatchStart['sent']; readonly current: WatchStart['sent'] },
  round: {
    readonly subject: WatchSubject;
    readonly version: string;
    readonly isInitialEnd: boolean;
    readonly isNew: boolean;
  },
): Generator<WatchEvent, void, void> {
  const { subject, version, isInitialEnd, isNew } = round;
  for (const change of objectChanges(sent, current, subject.watchable.isUnchanged)) {
    const event = eventOf(change, { isSelected: subject.isSelected, version });
    if (event) yield event;
  }
  if (subject.sendsBookmarks && (isInitialEnd || isNew)) {
    yield { type: 'BOOKMARK', resourceVersion: version, isInitialEnd };
  }
}

/** A changed object: at least one of the two is set. */
interface ObjectChange {
  readonly before: ServedObject | undefined;
  readonly after: ServedObject | undefined;
}

/** Changes from one state to another, both sorted by namespace and name. */
export function* objectChanges(
  before: readonly ObjectBlock[],
  after: readonly ObjectBlock[],
  isUnchanged: Watchable['isUnchanged'],
): Generator<ObjectChange, void, void> {
  const [old, current] = [objectsOf(before), objectsOf(after)];
  let [was, is] = [old.next().value, current.next().value];
  while (was || is) {
    const order = was && is ? compare(was, is) : was ? -1 : 1;
    if (order !== 0 || !was || !is || !isUnchanged(was, is)) {
      yield { before: order <= 0 ? was : undefined, after: order >= 0 ? is : undefined };
    }
    if (order <= 0) was = old.next().value;
    if (order >= 0) is = current.next().value;
  }
}

/** A generator: an array would be retained for every slow watcher. */
function* objectsOf(blocks: readonly ObjectBlock[]): Generator<ServedObject, undefined, void> {
  for (const block of blocks) yield* block;
  return undefined;
}

function compare(a: ServedObject, b: ServedObject): number {
  const [left, right] = [a.namespace ?? '', b.namespace ?? ''];
  if (left !== right) return left < right ? -1 : 1;
  return a.name === b.name ? 0 : a.name < b.name ? -1 : 1;
}

export type WatchEvent = ObjectEvent | BookmarkEvent;

/** An object is added to the watched ones, has changed, or is removed from them. */
interface ObjectEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** As it is, or was before it was removed. */
  readonly object: ServedObject;
  /** The version of the change. */
  readonly resourceVersion: string;
}

/** The version up to which the watcher has received all changes. */
interface BookmarkEvent {
  readonly type: 'BOOKMARK';
  readonly resourceVersion: string;
  /** Whether this ends the initial events. */
  readonly isInitialEnd: boolean;
}

/**
 * The event of a change for a watcher with selectors: an object that no longer matches is deleted, and one that begins
 * to match is added.
 *
 * @returns `undefined` when it never matched
 */
function eventOf(
  { before, after }: ObjectChange,
  watch: { readonly isSelected: (object: ServedObject) => boolean; readonly version: string },
): ObjectEvent | undefined {
  const resourceVersion = watch.version;
  const wasSelected = before !== undefined && watch.isSelected(before);
  if (after && watch.isSelected(after)) {
    return { type: wasSelected ? 'MODIFIED' : 'ADDED', object: after, resourceVersion };
  }
  return wasSelected ? { type: 'DELETED', object: before, resourceVersion } : undefined;
}

export interface WatchStart {
  readonly version: string;
  /** What the watcher has already; empty, where the watch begins with all objects. */
  readonly sent: readonly ObjectBlock[];
  /** Whether a bookmark marks the end of the initial events. */
  readonly marksInitialEnd: boolean;
}

/**
 * Determines where a watch begins: at the version that it names, or with all objects. Without a version, or from 0, it
 * begins with all objects unless it requests otherwise, as in Kubernetes.
 *
 * @throws {StatusError} 410 for a version that is too old or another instance's, 400 for an invalid version
 */
export function resolveWatchStart(
  watchable: Watchable,
  options: ListOptions,
  namespace: string | undefined,
): WatchStart {
  const { resourceVersion, sendInitialEvents } = options;
  const version = watchable.version();
  if (sendInitialEvents ?? isAnyVersion(resourceVersion)) {
    return { version, sent: [], marksInitialEnd: sendInitialEvents === true };
  }
  const from = isAnyVersion(resourceVersion) ? version : resourceVersion;
  if (!/^\d+$/.test(from)) {
    throw badRequest(`Invalid resource version ${goQuote(from)}: not an integer`);
  }
  const sent = watchable.possiblySent(from, namespace);
  if (!sent) throw expired(`too old resource version: ${from} (${version})`);
  return { version: from, sent, marksInitialEnd: false };
}

function isAnyVersion(resourceVersion: string): boolean {
  return resourceVersion === '' || resourceVersion === '0';
}
