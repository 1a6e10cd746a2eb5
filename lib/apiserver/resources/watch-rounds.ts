import { badRequest, expired } from '#lib/apiserver/http/status-error.ts';
import { goQuote } from '#lib/kubernetes/selectors/go-quote.ts';
import type { ListOptions } from './list-options.ts';
import type { ObjectBlock, ServedObject, Watchable } from './served-object.ts';

/** What a watch is about. */
export interface WatchSubject {
  readonly watchable: Watchable;
  /** `undefined` for all. */
  readonly namespace: string | undefined;
  readonly isWanted: (object: ServedObject) => boolean;
  /** Whether the watcher is to know its version, too, when nothing of its own has changed. */
  readonly sendsBookmarks: boolean;
}

/**
 * Tells what changes from a start on, a round of events for each version, for as long as the signal lets it. A watcher that
 * takes long over one round is told in the next what has changed since, not all that happened meanwhile, so that
 * nothing piles up.
 */
export async function* watchRounds(
  start: WatchStart,
  subject: WatchSubject,
  signal: AbortSignal,
): AsyncGenerator<Iterable<WatchEvent>, void, void> {
  const { watchable, namespace } = subject;
  let { known, version } = start;
  let isInitialEnd = start.marksInitialEnd;
  while (!signal.aborted) {
    const next = watchable.version();
    const current = watchable.current(namespace);
    yield round({ known, current }, { subject, version: next, isInitialEnd, isNew: next !== version });
    isInitialEnd = false;
    [known, version] = [current, next];
    try {
      await watchable.changed(version, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

function* round(
  { known, current }: { readonly known: WatchStart['known']; readonly current: WatchStart['known'] },
  told: {
    readonly subject: WatchSubject;
    readonly version: string;
    readonly isInitialEnd: boolean;
    readonly isNew: boolean;
  },
): Generator<WatchEvent, void, void> {
  const { subject, version, isInitialEnd, isNew } = told;
  for (const change of objectChanges(known, current, subject.watchable.isUnchanged)) {
    const event = eventOf(change, { isWanted: subject.isWanted, version });
    if (event) yield event;
  }
  if (subject.sendsBookmarks && (isInitialEnd || isNew)) {
    yield { type: 'BOOKMARK', resourceVersion: version, isInitialEnd };
  }
}

/** What became of an object: at least one of the two is there. */
interface ObjectChange {
  readonly before: ServedObject | undefined;
  readonly after: ServedObject | undefined;
}

/** What changed from one state to another, both sorted; by namespace and name. */
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

/** One by one: a list of all of them would be held for every watcher that takes its time. */
function* objectsOf(blocks: readonly ObjectBlock[]): Generator<ServedObject, undefined, void> {
  for (const block of blocks) yield* block;
  return undefined;
}

function compare(a: ServedObject, b: ServedObject): number {
  const [left, right] = [a.namespace ?? '', b.namespace ?? ''];
  if (left !== right) return left < right ? -1 : 1;
  return a.name === b.name ? 0 : a.name < b.name ? -1 : 1;
}

/** What a watcher is told. */
export type WatchEvent = ObjectEvent | BookmarkEvent;

/** That an object has come to what is watched, has changed, or has left it. */
interface ObjectEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** As it is, or was before it left. */
  readonly object: ServedObject;
  /** In which version that happened. */
  readonly resourceVersion: string;
}

/** Up to which version the watcher has been told everything. */
interface BookmarkEvent {
  readonly type: 'BOOKMARK';
  readonly resourceVersion: string;
  /** Whether this is the end of what there was when the watch began. */
  readonly isInitialEnd: boolean;
}

/**
 * What a change means to somebody who watches only some objects: one that does not belong to them any more is
 * deleted, and one that has begun to is added.
 *
 * @returns `undefined` when it is none of theirs
 */
function eventOf(
  { before, after }: ObjectChange,
  watch: { readonly isWanted: (object: ServedObject) => boolean; readonly version: string },
): ObjectEvent | undefined {
  const resourceVersion = watch.version;
  const wasWanted = before !== undefined && watch.isWanted(before);
  if (after && watch.isWanted(after)) {
    return { type: wasWanted ? 'MODIFIED' : 'ADDED', object: after, resourceVersion };
  }
  return wasWanted ? { type: 'DELETED', object: before, resourceVersion } : undefined;
}

/** Where a watch begins. */
export interface WatchStart {
  readonly version: string;
  /** What the watcher knows already; nothing, where it is to be told of everything first. */
  readonly known: readonly ObjectBlock[];
  /** Whether the end of that is marked. */
  readonly marksInitialEnd: boolean;
}

/**
 * Finds out where a watch begins: at the version that it names, or with everything that there is. Without a
 * version, or from 0, it begins with everything unless it asks for the opposite, as in Kubernetes.
 *
 * @throws {StatusError} 410 for a version that is too old or another instance's, 400 for what is no version
 */
export function startOfWatch(
  watchable: Watchable,
  options: ListOptions,
  namespace: string | undefined,
): WatchStart {
  const { resourceVersion, sendInitialEvents } = options;
  const version = watchable.version();
  if (sendInitialEvents ?? isAnyVersion(resourceVersion)) {
    return { version, known: [], marksInitialEnd: sendInitialEvents === true };
  }
  const from = isAnyVersion(resourceVersion) ? version : resourceVersion;
  if (!/^\d+$/.test(from)) {
    throw badRequest(`Invalid resource version ${goQuote(from)}: it is no whole number`);
  }
  const known = watchable.possiblySent(from, namespace);
  if (!known) throw expired(`too old resource version: ${from} (${version})`);
  return { version: from, known, marksInitialEnd: false };
}

function isAnyVersion(resourceVersion: string): boolean {
  return resourceVersion === '' || resourceVersion === '0';
}
