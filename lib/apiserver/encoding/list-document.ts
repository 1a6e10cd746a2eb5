import { isTurnOver, nextTurn } from '#lib/time/turn.ts';
import { type Document, documentJson, type Encoding, encodeDocument } from './document.ts';
import { goJson } from './go-json.ts';
import { goYaml, goYamlItem } from './go-yaml.ts';
import type { JsonObject } from './json-value.ts';
import {
  encodeLongText,
  type Frame,
  indentedJsonFrame,
  indentItem,
  OBJECTS_AN_ITEM,
  plainJsonFrame,
} from './long-text.ts';
import { ProtobufWriter } from './protobuf-writer.ts';
import { runtimeUnknown } from './runtime-unknown.ts';
import { returnScratch, takeScratch } from './scratch.ts';

/** A whole answer that may have many items, the last of its fields. */
export interface ListDocument<Item> {
  readonly apiVersion: string;
  readonly kind: string;
  /** Everything else but kind and apiVersion. */
  head(): JsonObject;
  readonly itemsField: 'items' | 'rows';
  readonly items: readonly Item[];
  /** What is published where there are none. */
  readonly whenEmpty: readonly [] | null;
  itemFields(item: Item): JsonObject;
  writeHead(message: ProtobufWriter): void;
  /** Writes the item as a field of the document's message. */
  writeItem(message: ProtobufWriter, item: Item): void;
}

/** The document of all its items. */
export function wholeDocument<Item>(list: ListDocument<Item>): Document {
  const { items, itemsField, whenEmpty } = list;
  return {
    kind: list.kind,
    apiVersion: list.apiVersion,
    fields: () => ({
      ...list.head(),
      [itemsField]: items.length === 0 ? whenEmpty : items.map((item) => list.itemFields(item)),
    }),
    writeFields: (message) => {
      list.writeHead(message);
      for (const item of items) list.writeItem(message, item);
    },
  };
}

/** Encodes what encoding the {@link wholeDocument} gives, item by item, between which others go on. */
export async function encodeListDocument<Item>(
  list: ListDocument<Item>,
  encoding: Encoding,
): Promise<Buffer> {
  const { items, itemsField } = list;
  if (encoding.format === 'protobuf') return encodeProtobuf(list);
  if (items.length === 0) return encodeDocument(wholeDocument(list), encoding);
  const empty = documentJson(wholeDocument({ ...list, items: [], whenEmpty: [] }));
  if (encoding.format === 'yaml')
    return encodeLongText(yamlFrame(goYaml(empty), itemsField), items, (item) =>
      goYamlItem(list.itemFields(item)),
    );
  if (encoding.isPretty)
    return encodeLongText(indentedJsonFrame(goJson(empty, 2)), items, (item) =>
      indentItem(goJson(list.itemFields(item), 2)),
    );
  const frame = plainJsonFrame(goJson(empty));
  return encodeLongText({ ...frame, after: `${frame.after}\n` }, items, (item) =>
    goJson(list.itemFields(item)),
  );
}

async function encodeProtobuf<Item>(list: ListDocument<Item>): Promise<Buffer> {
  const message = new ProtobufWriter(takeScratch());
  list.writeHead(message);
  for (const item of list.items) {
    list.writeItem(message, item);
    if (isTurnOver(OBJECTS_AN_ITEM)) await nextTurn();
  }
  const bytes = runtimeUnknown(list, message.finish());
  returnScratch(message.room);
  return bytes;
}

/** @param empty a document of which one field is an empty sequence: where the items are to be */
function yamlFrame(empty: string, itemsField: string): Frame {
  const place = empty.search(new RegExp(`^${itemsField}: \\[\\]$`, 'm'));
  const end = place + `${itemsField}:`.length;
  return { before: `${empty.slice(0, end)}\n`, between: '', after: empty.slice(end + ' []\n'.length) };
}
