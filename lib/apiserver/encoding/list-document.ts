import { isTurnOver, nextTurn } from '#lib/time/turn.ts';
import { type Document, documentJson, type Encoding, encodeDocument } from './document.ts';
import { goJson } from './go-json.ts';
import { goYaml, goYamlItem } from './go-yaml.ts';
import type { JsonObject } from './json-value.ts';
import { ProtobufWriter } from './protobuf-writer.ts';
import { runtimeUnknown } from './runtime-unknown.ts';
import { returnScratch, takeScratch } from './scratch.ts';
import { TextWriter } from './text-writer.ts';

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

/** An item takes as long as so many objects that are encoded for programs. */
const OBJECTS_AN_ITEM = 10;

/** Encodes what encoding the {@link wholeDocument} gives, item by item, between which others go on. */
export function encodeListDocument<Item>(list: ListDocument<Item>, encoding: Encoding): Promise<Buffer> {
  return encoding.format === 'protobuf' ? encodeProtobuf(list) : encodeText(list, encoding);
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

async function encodeText<Item>(list: ListDocument<Item>, encoding: Encoding): Promise<Buffer> {
  if (list.items.length === 0) return encodeDocument(wholeDocument(list), encoding);
  const none = wholeDocument({ ...list, items: [], whenEmpty: [] });
  const { before, itemText, between, after } = frameOf(none, list.itemsField, encoding);
  const writer = new TextWriter(takeScratch());
  let separator = before;
  for (const item of list.items) {
    writer.text(separator + itemText(list.itemFields(item)));
    separator = between;
    if (isTurnOver(OBJECTS_AN_ITEM)) await nextTurn();
  }
  writer.text(after);
  const bytes = writer.finish();
  returnScratch(writer.room);
  return bytes;
}

/** What stands around items, and how one is written where it stands. */
interface Frame {
  readonly before: string;
  readonly between: string;
  readonly after: string;
  itemText(item: JsonObject): string;
}

/** @param none the document with an empty sequence in place of its items */
function frameOf(none: Document, itemsField: string, { format, isPretty }: Encoding): Frame {
  if (format === 'yaml') {
    const yaml = goYaml(documentJson(none));
    const place = yaml.search(new RegExp(`^${itemsField}: \\[\\]$`, 'm'));
    const end = place + itemsField.length + 1;
    return {
      before: `${yaml.slice(0, end)}\n`,
      between: '',
      after: yaml.slice(end + ' []\n'.length),
      itemText: goYamlItem,
    };
  }
  if (!isPretty) {
    const before = goJson(documentJson(none)).slice(0, -']}'.length);
    return { before, between: ',', after: ']}\n', itemText: (item) => goJson(item) };
  }
  const before = goJson(documentJson(none), 2).slice(0, -']\n}'.length);
  return {
    before: `${before}\n    `,
    between: ',\n    ',
    after: '\n  ]\n}',
    itemText: (item) => goJson(item, 2).replaceAll('\n', '\n    '),
  };
}
