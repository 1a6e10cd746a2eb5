import type { JsonObject } from '#lib/apiserver/encoding/json-value.ts';
import type { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import type { ObjectMeta } from './object-meta.ts';

/** One object of a resource. It never changes. */
export interface ServedObject extends ObjectMeta {
  /** Everything behind `metadata`, in the order in which it is published. */
  fields(): JsonObject;
  /** The same as JSON on one line, without the braces around it: what lists are made of. */
  fieldsText(): string;
  /** Writes the same to the object's protobuf message; numbers begin at 2, behind metadata. */
  writeFields(message: ProtobufWriter): void;
}

/**
 * Some of a resource's objects that follow one another: the same array for as long as it holds the same objects,
 * for what is encoded of it is kept with it.
 */
export type ObjectBlock = readonly ServedObject[];
