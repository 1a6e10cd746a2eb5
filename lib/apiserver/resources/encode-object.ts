import { type Document, type Encoding, encodeDocument } from '#lib/apiserver/encoding/document.ts';
import type { JsonObject } from '#lib/apiserver/encoding/json.ts';
import { attempt } from '#lib/apiserver/encoding/list-document.ts';
import { ITEMS_FIELD, OBJECT_META } from '#lib/apiserver/encoding/object-meta.ts';
import { GrowingBuffer, ProtobufWriter, spareBuffer } from '#lib/apiserver/encoding/protobuf-writer.ts';
import type { TimeSlices } from '#lib/concurrency/event-loop.ts';
import type { IndexRange } from './selection.ts';
import type { ObjectBlock, ServedObject } from './served-object.ts';

/** A kind and its API version, with which responses begin. */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Encodes one object as a whole response. */
export function encodeObject(
  object: ServedObject,
  type: TypeMeta,
  encoding: Encoding,
): ReturnType<typeof encodeDocument> {
  return encodeDocument(objectDocument(object, type), encoding);
}

/** The object's JSON on one line, without kind and apiVersion. */
export function objectJsonText(object: ServedObject): string {
  return `{${membersText(object)}}`;
}

function membersText(object: ServedObject): string {
  return `"metadata":${OBJECT_META.text(object)},${object.contentType.membersText(object.content)}`;
}

/** Writes the fields of the object's message. */
export function writeObject(message: ProtobufWriter, object: ServedObject): void {
  OBJECT_META.write(message, 1, object);
  object.contentType.writeFields(message, object.content);
}

/** The object as JSON, without kind and apiVersion. */
export function objectFields(object: ServedObject): JsonObject {
  return { metadata: OBJECT_META.json(object), ...object.contentType.json(object.content) };
}

/** One object as a whole response, not encoded yet. */
export function objectDocument(object: ServedObject, type: TypeMeta): Document {
  return {
    ...type,
    fields: () => objectFields(object),
    membersText: () => membersText(object),
    writeFields: (message) => writeObject(message, object),
  };
}

/** Formats in which a list is joined from the cached encodings of its blocks. */
export type BlockFormat = 'json' | 'protobuf';

/**
 * A block's objects as items of a list: in JSON with commas between them, in protobuf each as field 2. An object that
 * cannot be encoded takes no bytes.
 */
export class EncodedBlock {
  readonly bytes: Buffer;
  /** Offset after each object. */
  readonly #ends: Float64Array;
  /** Number of bytes between two objects. */
  readonly #gap: number;

  constructor(bytes: Buffer, ends: Float64Array, gap: number) {
    this.bytes = bytes;
    this.#ends = ends;
    this.#gap = gap;
  }

  /** Some of the objects, without a copy; empty where none of them has bytes. */
  cut({ start, end }: IndexRange): Buffer {
    const before = start === 0 ? 0 : (this.#ends[start - 1] ?? 0);
    return this.bytes.subarray(before === 0 ? 0 : before + this.#gap, this.#ends[end - 1]);
  }
}

const BLOCKS: Readonly<Record<BlockFormat, WeakMap<ObjectBlock, Promise<EncodedBlock>>>> = {
  json: new WeakMap(),
  protobuf: new WeakMap(),
};

/** Encodes a block, at most once for as long as it is referenced. */
export function encodeBlock(
  block: ObjectBlock,
  format: BlockFormat,
  slices: TimeSlices,
): Promise<EncodedBlock> {
  let encoded = BLOCKS[format].get(block);
  if (!encoded) {
    encoded = format === 'json' ? encodeJson(block, slices) : encodeProtobuf(block, slices);
    BLOCKS[format].set(block, encoded);
    encoded.catch(() => BLOCKS[format].delete(block));
  }
  return encoded;
}

async function encodeJson(block: ObjectBlock, slices: TimeSlices): Promise<EncodedBlock> {
  const ends = new Float64Array(block.length);
  const writer = new GrowingBuffer(spareBuffer());
  for (const [index, object] of block.entries()) {
    const text = attempt(() => objectJsonText(object));
    if (text !== undefined) writer.text(writer.length === 0 ? text : `,${text}`);
    ends[index] = writer.length;
    if (slices.isSliceSpent()) await slices.yieldToEventLoop();
  }
  const bytes = writer.finish();
  writer.release();
  return new EncodedBlock(bytes, ends, 1);
}

async function encodeProtobuf(block: ObjectBlock, slices: TimeSlices): Promise<EncodedBlock> {
  const ends = new Float64Array(block.length);
  const writer = new ProtobufWriter(spareBuffer());
  for (const [index, object] of block.entries()) {
    writer.attempt(() => writer.message(ITEMS_FIELD, () => writeObject(writer, object)));
    ends[index] = writer.length;
    if (slices.isSliceSpent()) await slices.yieldToEventLoop();
  }
  const bytes = writer.finish();
  writer.release();
  return new EncodedBlock(bytes, ends, 0);
}
