import type { ObjectBlock, ServedObject } from './served-object.ts';

/**
 * How a resource's changes are followed: from version to version, each of them a whole state. What changed in
 * between is found by comparing the two, so that a client who is slow, or comes late, costs nothing to wait for.
 */
export interface Watchable<Object extends ServedObject = ServedObject> {
  /** The version of what there is now: a whole number that rises. */
  version(): string;
  /** The objects of that version as they are now, of all namespaces or of one, sorted. */
  current(namespace: string | undefined): readonly ObjectBlock[];
  /**
   * All that clients may have been told of a version, whether or not it is the latest, sorted.
   *
   * @returns `undefined` when that is not known, any more or at all
   */
  told(version: string, namespace: string | undefined): readonly ObjectBlock[] | undefined;
  /**
   * Waits until there is another version than this one.
   *
   * @throws the signal's reason when it aborts
   */
  changed(version: string, signal: AbortSignal): Promise<void>;
  /** Whether an object stayed the same from one version to another, apart from its version. */
  isUnchanged(before: Object, after: Object): boolean;
}
