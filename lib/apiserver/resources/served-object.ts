import type { MessageType } from '#lib/apiserver/encoding/message-type.ts';
import type { ObjectMeta } from '#lib/apiserver/encoding/object-meta.ts';
import type { Texts } from '#lib/apiserver/encoding/value-types.ts';

/** An object of a resource; immutable. */
export interface ServedObject extends ObjectMeta {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly creationTimestampMs: number;
  readonly labels: Texts;
  /** The fields after `metadata` are encoded from this. */
  readonly content: unknown;
  /** How it is encoded; field numbers begin at 2, after metadata. */
  readonly contentType: MessageType<unknown>;
}

/**
 * Consecutive objects of a resource: the same array as long as it has the same objects, since its encoding is cached
 * with it.
 */
export type ObjectBlock = readonly ServedObject[];

/**
 * The versions of a resource, each of them a whole state. Changes between two are found by comparing them, so that a
 * client that is slow, or joins late, costs nothing meanwhile.
 */
export interface Watchable<Object extends ServedObject = ServedObject> {
  /** The current version: an increasing integer. */
  version(): string;
  /** The objects of the current version, of all namespaces or of one, sorted. */
  current(namespace: string | undefined): readonly ObjectBlock[];
  /**
   * All objects that clients may have received for a version, whether or not it is the latest, sorted.
   *
   * @returns `undefined` when that is unknown, or no longer cached
   */
  possiblySent(version: string, namespace: string | undefined): readonly ObjectBlock[] | undefined;
  /**
   * Waits until the version is another.
   *
   * @throws the signal's reason when it aborts
   */
  changed(version: string, signal: AbortSignal): Promise<void>;
  /** Whether an object is the same in two versions, apart from its version. */
  isUnchanged(before: Object, after: Object): boolean;
}
