import { OBJECTS_PER_SLICE, type TimeSlices } from '#lib/concurrency/event-loop.ts';
import { type Document, documentJson, type Encoding, encodeDocument, runtimeUnknown } from './document.ts';
import { goJson, type JsonObject } from './json.ts';
import { GrowingBuffer, ProtobufWriter, spareBuffer } from './protobuf-writer.ts';

/** A whole response with many items as its last field. */
export interface ListDocument<Item> {
  readonly apiVersion: string;
  readonly kind: string;
  /** All other fields but kind and apiVersion. */
  head(): JsonObject;
  readonly itemsField: 'items' | 'rows';
  readonly items: readonly Item[];
  /** The value of the items' field where there are none. */
  readonly whenEmpty: readonly [] | null;
  itemFields(item: Item): JsonObject;
  writeHead(message: ProtobufWriter): void;
  /** Writes the item as a field of the document's message. */
  writeItem(message: ProtobufWriter, item: Item): void;
}

export function wholeDocument<Item>(list: ListDocument<Item>): Document {
  const { items, itemsField, whenEmpty } = list;
  const fields = () => ({
    ...list.head(),
    [itemsField]: items.length === 0 ? whenEmpty : items.map((item) => list.itemFields(item)),
  });
  return {
    kind: list.kind,
    apiVersion: list.apiVersion,
    fields,
    membersText: () => goJson(fields()).slice(1, -1),
    writeFields: (message) => {
      list.writeHead(message);
      for (const item of items) list.writeItem(message, item);
    },
  };
}

/**
 * Encodes what encoding the {@link wholeDocument} gives, item by item in time slices; one long list at a time.
 *
 * @param signal called only where it takes long
 * @throws the signal's reason when it aborts meanwhile
 */
export function encodeListDocument<Item>(
  list: ListDocument<Item>,
  encoding: Encoding,
  { slices, signal }: { readonly slices: TimeSlices; readonly signal?: () => AbortSignal },
): Promise<Buffer> {
  if (list.items.length <= OBJECTS_PER_SLICE) return encodeItems(list, encoding, { slices });
  const ended = signal?.();
  return slices.runExclusively(() => encodeItems(list, encoding, { slices, signal: ended }), ended);
}

async function encodeItems<Item>(
  list: ListDocument<Item>,
  encoding: Encoding,
  pace: EncodingPace,
): Promise<Buffer> {
  const { items, itemsField } = list;
  if (encoding.format === 'protobuf') return encodeProtobuf(list, pace);
  if (items.length === 0) return Buffer.from(await encodeDocument(wholeDocument(list), encoding));
  const empty = documentJson(wholeDocument({ ...list, items: [], whenEmpty: [] }));
  const write = (frame: Frame, textOf: (item: JsonObject) => string, objectsPerItem?: number) =>
    encodeLongText(frame, items, (item) => textOf(list.itemFields(item)), { ...pace, objectsPerItem });
  if (encoding.format === 'yaml') {
    const { writeYaml } = await import('./yaml.ts');
    return write(yamlFrame(writeYaml(empty), itemsField), (item) => writeYaml([item]), OBJECTS_A_YAML_ITEM);
  }
  if (encoding.isPretty)
    return write(indentedJsonFrame(goJson(empty, 2)), (item) => indentItem(goJson(item, 2)));
  const { before, between, after } = plainJsonFrame(goJson(empty));
  return write({ before, between, after: `${after}\n` }, (item) => goJson(item));
}

async function encodeProtobuf<Item>(
  list: ListDocument<Item>,
  { slices, signal }: EncodingPace,
): Promise<Buffer> {
  const message = new ProtobufWriter(spareBuffer());
  list.writeHead(message);
  for (const item of list.items) {
    message.attempt(() => list.writeItem(message, item));
    if (slices.isSliceSpent(OBJECTS_AN_ITEM)) await slices.yieldToEventLoop(signal);
  }
  const bytes = runtimeUnknown(list, message.finish());
  message.release();
  return bytes;
}

/** @param empty a document in which one field is an empty sequence: the position of the items */
function yamlFrame(empty: string, itemsField: string): Frame {
  const position = `\n${empty}`.indexOf(`\n${itemsField}: []\n`);
  const end = position + `${itemsField}:`.length;
  return { before: `${empty.slice(0, end)}\n`, between: '', after: empty.slice(end + ' []\n'.length) };
}

/**
 * Encodes one of many items, so that one with unexpected content is left out alone.
 *
 * @returns `undefined` where encoding throws
 */
export function attempt<Encoded>(encode: () => Encoded): Encoded | undefined {
  try {
    return encode();
  } catch {
    return undefined;
  }
}

/** The text around the items. */
interface Frame {
  readonly before: string;
  readonly between: string;
  readonly after: string;
}

/** Time slices of a long encoding, and its abort signal. */
export interface EncodingPace {
  readonly slices: TimeSlices;
  readonly signal?: AbortSignal | undefined;
  /** Number of objects in a format for programs that take as long to encode as one item. */
  readonly objectsPerItem?: number | undefined;
}

const OBJECTS_AN_ITEM = 10;
const OBJECTS_A_YAML_ITEM = 40;

/**
 * Encodes a text of at least one item, item by item in time slices. Items that cannot be encoded are left out.
 *
 * @throws the signal's reason when it aborts meanwhile
 */
export async function encodeLongText<Item>(
  { before, between, after }: Frame,
  items: readonly Item[],
  textOf: (item: Item) => string,
  { slices, signal, objectsPerItem = OBJECTS_AN_ITEM }: EncodingPace,
): Promise<Buffer> {
  const writer = new GrowingBuffer(spareBuffer());
  writer.text(before);
  let separator = '';
  for (const item of items) {
    const text = attempt(() => textOf(item));
    if (text !== undefined) {
      writer.text(separator + text);
      separator = between;
    }
    if (slices.isSliceSpent(objectsPerItem)) await slices.yieldToEventLoop(signal);
  }
  writer.text(after);
  const bytes = writer.finish();
  writer.release();
  return bytes;
}

/** @param empty a JSON object on one line, whose last field is an empty array: the position of the items */
function plainJsonFrame(empty: string): Frame {
  return { before: empty.slice(0, -']}'.length), between: ',', after: ']}' };
}

/** @param empty the same, indented by two spaces a level */
export function indentedJsonFrame(empty: string): Frame {
  const before = empty.slice(0, -']\n}'.length);
  return { before: `${before}\n    `, between: ',\n    ', after: '\n  ]\n}' };
}

/** An item, indented by two spaces a level, as it appears in an {@link indentedJsonFrame}. */
export function indentItem(json: string): string {
  return json.replaceAll('\n', '\n    ');
}
