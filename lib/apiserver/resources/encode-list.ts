import type { AnswerPart } from '#lib/apiserver/answer-part.ts';
import type { Encoding } from '#lib/apiserver/encoding/document.ts';
import { type Document, encodeDocument } from '#lib/apiserver/encoding/document.ts';
import { goJson } from '#lib/apiserver/encoding/go-json.ts';
import { type ListMeta, listMetaJson, writeListMeta } from '#lib/apiserver/encoding/list-meta.ts';
import { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { envelope } from '#lib/apiserver/encoding/runtime-unknown.ts';
import { Turn } from '#lib/time/turn.ts';
import { objectFields, type TypeMeta, writeObject } from './encode-object.ts';
import { type BatchFormat, encodeBatch } from './encoded-batch.ts';
import { type Selection, selectedObjects } from './selection.ts';

/** Objects as they are answered to a list. */
export interface ObjectList extends TypeMeta {
  readonly metadata: ListMeta;
  readonly selection: Selection;
}

/**
 * Encodes a list, in parts that follow one another. In JSON on one line and in protobuf, which programs ask for,
 * they are cut out of what its batches are kept in; for people, and as YAML, the list is encoded anew.
 */
export async function encodeList(list: ObjectList, encoding: Encoding): Promise<readonly AnswerPart[]> {
  const { selection, metadata, kind, apiVersion } = list;
  if (encoding.format === 'protobuf') {
    const message = new ProtobufWriter();
    message.message(1, () => writeListMeta(message, metadata));
    return protobufParts(list, message.finish(), await encodeItems(selection, 'protobuf'));
  }
  if (encoding.format === 'yaml' || encoding.isPretty)
    return [{ bytes: encodeDocument(listDocument(list), encoding) }];
  const head = goJson({ kind, apiVersion, metadata: listMetaJson(metadata), items: [] }).slice(0, -2);
  const items = await encodeItems(selection, 'json');
  return [
    { bytes: Buffer.from(head) },
    ...items.flatMap((item, index) => (index === 0 ? [item] : [COMMA, item])),
    END,
  ];
}

const COMMA = { bytes: Buffer.from(',') };
const END = { bytes: Buffer.from(']}\n') };

function protobufParts(
  type: TypeMeta,
  metadata: Buffer,
  items: readonly AnswerPart[],
): readonly AnswerPart[] {
  const length = items.reduce((sum, { bytes }) => sum + bytes.length, metadata.length);
  const { head, tail } = envelope(type, length);
  return [{ bytes: head }, { bytes: metadata }, ...items, { bytes: tail }];
}

async function encodeItems(selection: Selection, format: BatchFormat): Promise<readonly AnswerPart[]> {
  const parts: AnswerPart[] = [];
  const turn = new Turn();
  for (const { batch, runs } of selection) {
    const encoded = await encodeBatch(batch, { format, turn });
    for (const run of runs) parts.push(encoded.part(run));
  }
  return parts;
}

function listDocument({ kind, apiVersion, metadata, selection }: ObjectList): Document {
  const items = selectedObjects(selection);
  return {
    kind,
    apiVersion,
    fields: () => ({ metadata: listMetaJson(metadata), items: items.map(objectFields) }),
    writeFields: (message) => {
      message.message(1, () => writeListMeta(message, metadata));
      for (const item of items) message.message(2, () => writeObject(message, item));
    },
  };
}
