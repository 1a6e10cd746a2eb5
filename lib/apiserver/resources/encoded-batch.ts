import { attempt } from '#lib/apiserver/encoding/attempt.ts';
import { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { returnScratch, takeScratch } from '#lib/apiserver/encoding/scratch.ts';
import { TextWriter } from '#lib/apiserver/encoding/text-writer.ts';
import { ITEMS_FIELD } from '#lib/apiserver/objects/list-meta.ts';
import type { Run } from '#lib/apiserver/objects/selection.ts';
import type { ObjectBatch } from '#lib/apiserver/objects/served-object.ts';
import { endsTurn, nextTurn } from '#lib/time/turn.ts';
import { objectJsonText, writeObject } from './encode-object.ts';

/** The formats in which a list is put together from what its batches are kept in. */
export type BatchFormat = 'json' | 'protobuf';

/**
 * A batch's objects as the items of a list: in JSON with commas between them, in protobuf each as field 2. One that cannot be
 * encoded takes no bytes: it costs itself alone.
 */
export class EncodedBatch {
  readonly bytes: Buffer;
  /** Behind each object. */
  readonly #ends: Float64Array;
  /** How many bytes are between two objects. */
  readonly #gap: number;

  constructor(bytes: Buffer, ends: Float64Array, gap: number) {
    this.bytes = bytes;
    this.#ends = ends;
    this.#gap = gap;
  }

  /** Some of the objects, without a copy; empty where none of them has bytes. */
  cut({ start, end }: Run): Buffer {
    const before = start === 0 ? 0 : (this.#ends[start - 1] ?? 0);
    return this.bytes.subarray(before === 0 ? 0 : before + this.#gap, this.#ends[end - 1]);
  }
}

const kept: Readonly<Record<BatchFormat, WeakMap<ObjectBatch, Promise<EncodedBatch>>>> = {
  json: new WeakMap(),
  protobuf: new WeakMap(),
};

/** Encodes a batch, at most once for as long as somebody holds it. */
export function encodeBatch(batch: ObjectBatch, format: BatchFormat): Promise<EncodedBatch> {
  let encoded = kept[format].get(batch);
  if (!encoded) {
    encoded = format === 'json' ? encodeJson(batch) : encodeProtobuf(batch);
    kept[format].set(batch, encoded);
    encoded.catch(() => kept[format].delete(batch));
  }
  return encoded;
}

async function encodeJson(batch: ObjectBatch): Promise<EncodedBatch> {
  const ends = new Float64Array(batch.length);
  const writer = new TextWriter(takeScratch());
  for (const [index, object] of batch.entries()) {
    const text = attempt(() => objectJsonText(object));
    if (text !== undefined) writer.text(writer.length === 0 ? text : `,${text}`);
    ends[index] = writer.length;
    if (endsTurn()) await nextTurn();
  }
  const bytes = writer.finish();
  returnScratch(writer.room);
  return new EncodedBatch(bytes, ends, 1);
}

async function encodeProtobuf(batch: ObjectBatch): Promise<EncodedBatch> {
  const ends = new Float64Array(batch.length);
  const writer = new ProtobufWriter(takeScratch());
  for (const [index, object] of batch.entries()) {
    writer.attempt(() => writer.message(ITEMS_FIELD, () => writeObject(writer, object)));
    ends[index] = writer.length;
    if (endsTurn()) await nextTurn();
  }
  const bytes = writer.finish();
  returnScratch(writer.room);
  return new EncodedBatch(bytes, ends, 0);
}
