import type { Encoding } from '#lib/apiserver/encoding/document.ts';
import { goJson } from '#lib/apiserver/encoding/go-json.ts';
import { encodeListDocument, type ListDocument } from '#lib/apiserver/encoding/list-document.ts';
import { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { envelope } from '#lib/apiserver/encoding/runtime-unknown.ts';
import { type AnswerPart, lengthOf } from '#lib/apiserver/http/response-part.ts';
import { ITEMS_FIELD, type ListMeta, listMetaJson, writeListMeta } from '#lib/apiserver/objects/list-meta.ts';
import { isWhole, type Run, type Selection, selectedObjects } from '#lib/apiserver/objects/selection.ts';
import type { ServedObject } from '#lib/apiserver/objects/served-object.ts';
import { objectFields, type TypeMeta, writeObject } from './encode-object.ts';
import { type BatchFormat, type EncodedBatch, encodeBatch } from './encoded-batch.ts';
import { jointParts, separated } from './joint-batches.ts';

/** Objects as they are answered to a list. */
export interface ObjectList extends TypeMeta {
  readonly metadata: ListMeta;
  readonly selection: Selection;
}

/**
 * Encodes a list, in parts that follow one another. In JSON on one line and in protobuf, which programs ask for,
 * they are cut out of what its batches are kept in; for people, and as YAML, the list is encoded anew.
 */
export async function encodeList(
  list: ObjectList,
  encoding: Encoding,
  signal?: () => AbortSignal,
): Promise<readonly AnswerPart[]> {
  const { selection, metadata, kind, apiVersion } = list;
  if (encoding.format === 'protobuf') {
    const message = new ProtobufWriter();
    message.message(1, () => writeListMeta(message, metadata));
    return protobufParts(list, message.finish(), await encodeItems(selection, 'protobuf'));
  }
  if (encoding.format === 'yaml' || encoding.isPretty)
    return [{ pieces: [await encodeListDocument(listDocument(list), encoding, signal)] }];
  const head = goJson({ kind, apiVersion, metadata: listMetaJson(metadata), items: [] }).slice(0, -2);
  return [{ pieces: [Buffer.from(head)] }, ...(await encodeItems(selection, 'json')), END];
}

const END: AnswerPart = { pieces: [Buffer.from(']}\n')] };

function protobufParts(
  type: TypeMeta,
  metadata: Buffer,
  items: readonly AnswerPart[],
): readonly AnswerPart[] {
  const { head, tail } = envelope(type, metadata.length + lengthOf(items));
  return [{ pieces: [head, metadata] }, ...items, { pieces: [tail] }];
}

/** What stands between two items. */
const SEPARATORS: Readonly<Record<BatchFormat, Buffer | undefined>> = {
  json: Buffer.from(','),
  protobuf: undefined,
};

async function encodeItems(selection: Selection, format: BatchFormat): Promise<readonly AnswerPart[]> {
  const separator = SEPARATORS[format];
  const encoded: EncodedSelection[] = [];
  for (const { batch, runs } of selection) encoded.push({ whole: await encodeBatch(batch, format), runs });
  if (selection.every(isWhole)) {
    return jointParts(
      encoded.map(({ whole }) => whole).filter(({ bytes }) => bytes.length > 0),
      separator,
    );
  }
  const cut = encoded.flatMap(({ whole, runs }) => runs.map((run) => whole.cut(run)));
  const notEmpty = cut.filter(({ length }) => length > 0);
  return [{ pieces: separated(notEmpty, separator) }]; // hardly anybody else asks for just these
}

interface EncodedSelection {
  readonly whole: EncodedBatch;
  readonly runs: readonly Run[];
}

function listDocument(list: ObjectList): ListDocument<ServedObject> {
  const { kind, apiVersion, metadata, selection } = list;
  return {
    kind,
    apiVersion,
    head: () => ({ metadata: listMetaJson(metadata) }),
    itemsField: 'items',
    items: selectedObjects(selection),
    whenEmpty: [],
    itemFields: objectFields,
    writeHead: (message) => message.message(1, () => writeListMeta(message, metadata)),
    writeItem: (message, item) => message.message(ITEMS_FIELD, () => writeObject(message, item)),
  };
}
