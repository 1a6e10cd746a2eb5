import { ITEMS_FIELD } from '#lib/apiserver/encoding/list-meta.ts';
import { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { returnScratch, takeScratch } from '#lib/apiserver/encoding/scratch.ts';
import { TextWriter } from '#lib/apiserver/encoding/text-writer.ts';
import type { ObjectBatch } from '#lib/apiserver/served-object.ts';
import { endsTurn, nextTurn } from '#lib/time/turn.ts';
import { objectJsonText, writeObject } from './encode-object.ts';
import type { Run } from './selection.ts';

/** The formats in which a list is put together from what its batches are kept in. */
export type BatchFormat = 'json' | 'protobuf';

/** A batch's objects as the items of a list: in JSON with commas between them, in protobuf each as field 2. */
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

  /** Some of the objects, without a copy. */
  cut({ start, end }: Run): Buffer {
    const from = start === 0 ? 0 : (this.#ends[start - 1] ?? 0) + this.#gap;
    return this.bytes.subarray(from, this.#ends[end - 1]);
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
    writer.text(index === 0 ? objectJsonText(object) : `,${objectJsonText(object)}`);
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
    writer.message(ITEMS_FIELD, () => writeObject(writer, object));
    ends[index] = writer.length;
    if (endsTurn()) await nextTurn();
  }
  const bytes = writer.finish();
  returnScratch(writer.room);
  return new EncodedBatch(bytes, ends, 0);
}
