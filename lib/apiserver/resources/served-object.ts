import type { MessageType } from '#lib/apiserver/encoding/message-type.ts';
import type { ObjectMeta } from '#lib/apiserver/encoding/object-meta.ts';
import type { Texts } from '#lib/apiserver/encoding/value-types.ts';

/** One object of a resource. It never changes. */
export interface ServedObject extends ObjectMeta {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly creationTimestampMs: number;
  readonly labels: Texts;
  /** What stands behind `metadata` is made of this. */
  readonly content: unknown;
  /** How it is written; numbers begin at 2, behind metadata. */
  readonly contentType: MessageType<unknown>;
}

/**
 * Some of a resource's objects that follow one another: the same array for as long as it holds the same objects,
 * for what is encoded of it is kept with it.
 */
export type ObjectBlock = readonly ServedObject[];

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
  possiblySent(version: string, namespace: string | undefined): readonly ObjectBlock[] | undefined;
  /**
   * Waits until there is another version than this one.
   *
   * @throws the signal's reason when it aborts
   */
  changed(version: string, signal: AbortSignal): Promise<void>;
  /** Whether an object stayed the same from one version to another, apart from its version. */
  isUnchanged(before: Object, after: Object): boolean;
}
