import type { ServedObject } from '#lib/apiserver/resources/served-object.ts';
import type { ObjectChange } from './object-changes.ts';

/** What a watcher is told. */
export type WatchEvent = ObjectEvent | BookmarkEvent;

/** That an object has come to what is watched, has changed, or has left it. */
export interface ObjectEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** As it is, or was before it left. */
  readonly object: ServedObject;
  /** In which version that happened. */
  readonly resourceVersion: string;
}

/** Up to which version the watcher has been told everything. */
export interface BookmarkEvent {
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
export function eventOf(
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
