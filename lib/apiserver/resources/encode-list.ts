import { envelope } from '#lib/apiserver/encoding/document.ts';
import { goJson } from '#lib/apiserver/encoding/json.ts';
import { encodeListDocument, type ListDocument } from '#lib/apiserver/encoding/list-document.ts';
import type { Representation } from '#lib/apiserver/encoding/media-type.ts';
import { ITEMS_FIELD, LIST_META, type ListMeta } from '#lib/apiserver/encoding/object-meta.ts';
import { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { bytesOf, gzip, type ResponseBody } from '#lib/apiserver/http/response-body.ts';
import type { TimeSlices } from '#lib/concurrency/event-loop.ts';
import type { ObjectResource } from './api-group.ts';
import { convertList, type ResourceIdentity, toMetaConversion } from './conversions.ts';
import {
  type BlockFormat,
  type EncodedBlock,
  encodeBlock,
  objectFields,
  type TypeMeta,
  writeObject,
} from './encode-object.ts';
import { isWhole, type Selection, selectedObjects } from './selection.ts';
import type { ServedObject } from './served-object.ts';

/** Objects as they are sent to who lists them. */
export interface ObjectList extends ResourceIdentity {
  readonly resource: Pick<ObjectResource, 'kind' | 'listKind' | 'columns'>;
  readonly metadata: ListMeta;
  readonly selection: Selection;
}

/** What encoding a list may need of its request. */
interface ListRequest {
  readonly query: URLSearchParams;
  /** Asked for only where it takes long. */
  readonly signal: () => AbortSignal;
  readonly slices: TimeSlices;
}

/**
 * Encodes a list, or what the client wants made of it. In JSON on one line and in protobuf, which programs ask for, it is put
 * together of what its blocks are kept in; all else is encoded again each time.
 */
export async function encodeList(
  list: ObjectList,
  { format, isPretty, conversion }: Representation,
  { query, signal, slices }: ListRequest,
): Promise<ResponseBody> {
  const asked = conversion && toMetaConversion(conversion);
  const shared = blockFormatOf({ format, isPretty, conversion });
  if (asked || !shared) {
    const document = asked
      ? convertList({ ...list, items: selectedObjects(list.selection) }, asked, query)
      : listDocument(list);
    return { pieces: [await encodeListDocument(document, { format, isPretty }, { slices, signal })] };
  }
  const { selection } = list;
  const blocks: EncodedBlock[] = [];
  for (const { block } of selection) blocks.push(await encodeBlock(block, shared, slices));
  const frame = FRAMES[shared];
  if (!selection.every(isWhole)) return { pieces: frame(list, itemsOf(selection, blocks)) };
  const whole = blocks.filter(({ bytes }) => bytes.length > 0);
  const pieces = frame(
    list,
    whole.map(({ bytes }) => bytes),
  );
  return { pieces, gzipped: () => gzipOnce(whole, pieces) };
}

/** In which format a list is put together of blocks that others have, too; `undefined` where it is encoded for one request. */
export function blockFormatOf({ format, isPretty, conversion }: Representation): BlockFormat | undefined {
  if (conversion || format === 'yaml' || (format === 'json' && isPretty)) return undefined;
  return format;
}

const [COMMA, END] = [Buffer.from(','), Buffer.from(']}\n')];

/** What stands around the items of a list, and between them. */
const FRAMES: Readonly<
  Record<BlockFormat, (list: ObjectList, items: readonly Buffer[]) => readonly Buffer[]>
> = { json: jsonList, protobuf: protobufList };

function jsonList(list: ObjectList, items: readonly Buffer[]): readonly Buffer[] {
  const { kind, apiVersion } = typeOf(list);
  const head = goJson({ kind, apiVersion, metadata: LIST_META.json(list.metadata), items: [] }).slice(0, -2);
  const separated = items.flatMap((item, index) => (index === 0 ? [item] : [COMMA, item]));
  return [Buffer.from(head), ...separated, END];
}

function protobufList(list: ObjectList, items: readonly Buffer[]): readonly Buffer[] {
  const message = new ProtobufWriter();
  LIST_META.write(message, 1, list.metadata);
  const metadata = message.finish();
  const { head, tail } = envelope(typeOf(list), metadata.length + bytesOf(items));
  return [Buffer.concat([head, metadata]), ...items, tail];
}

function itemsOf(selection: Selection, blocks: readonly EncodedBlock[]): readonly Buffer[] {
  const cut = selection.flatMap(({ ranges }, index) => ranges.map((run) => blocks[index]?.cut(run)));
  return cut.filter((piece) => piece !== undefined && piece.length > 0) as Buffer[];
}

function listDocument(list: ObjectList): ListDocument<ServedObject> {
  const { metadata, selection } = list;
  return {
    ...typeOf(list),
    head: () => ({ metadata: LIST_META.json(metadata) }),
    itemsField: 'items',
    items: selectedObjects(selection),
    whenEmpty: [],
    itemFields: objectFields,
    writeHead: (message) => LIST_META.write(message, 1, metadata),
    writeItem: (message, item) => message.message(ITEMS_FIELD, () => writeObject(message, item)),
  };
}

function typeOf({ resource, group, version }: ObjectList): TypeMeta {
  return { kind: resource.listKind, apiVersion: `${group}/${version}` };
}

interface CompressedList {
  readonly blocks: readonly WeakRef<EncodedBlock>[];
  /** What stands before the blocks: a list has a version of its own. */
  readonly head: Buffer | undefined;
  /** `undefined` once one of the blocks is gone: nobody will ask for this list again. */
  gzipped: Promise<readonly Buffer[]> | undefined;
}

/**
 * By the first of their blocks: the latest list of that one alone, which is a namespace's, and of that one with others. That block
 * may stay the same for hours while others change, so that nothing else is held on to for its sake.
 */
const kept = new WeakMap<EncodedBlock, { alone?: CompressedList; withOthers?: CompressedList }>();

const blocksGone = new FinalizationRegistry<CompressedList>((list) => {
  list.gzipped = undefined;
  blocksGone.unregister(list);
});

/**
 * Compresses a list of whole blocks, once for as long as these are served.
 *
 * @param pieces of the list: the first stands before all blocks
 */
function gzipOnce(blocks: readonly EncodedBlock[], pieces: readonly Buffer[]): Promise<readonly Buffer[]> {
  const [first, ...others] = blocks;
  if (!first) return gzip(pieces);
  const lists = kept.get(first) ?? {};
  kept.set(first, lists);
  const place = others.length === 0 ? 'alone' : 'withOthers';
  const known = lists[place];
  const [head] = pieces;
  if (known?.gzipped && isSame(known, { blocks, head })) return known.gzipped;
  if (known) blocksGone.unregister(known);
  const gzipped = gzip(pieces);
  const list: CompressedList = { blocks: blocks.map((block) => new WeakRef(block)), head, gzipped };
  for (const block of blocks) blocksGone.register(block, list, list);
  lists[place] = list;
  gzipped.catch(() => {
    list.gzipped = undefined; // what failed once may be tried again
  });
  return gzipped;
}

function isSame(
  known: CompressedList,
  asked: { readonly blocks: readonly EncodedBlock[]; readonly head: Buffer | undefined },
): boolean {
  const hasSameHead = known.head && asked.head ? known.head.equals(asked.head) : known.head === asked.head;
  return (
    hasSameHead &&
    known.blocks.length === asked.blocks.length &&
    known.blocks.every((block, index) => block.deref() === asked.blocks[index])
  );
}
