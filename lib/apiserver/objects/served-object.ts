import type { MessageType } from '#lib/apiserver/encoding/message-type.ts';
import type { ObjectMeta } from '#lib/apiserver/encoding/object-meta.ts';
import type { Texts } from './value-types.ts';

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
