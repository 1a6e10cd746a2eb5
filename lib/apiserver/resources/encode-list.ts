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

/** Objects of a list, with their type. */
export interface ObjectList extends ResourceIdentity {
  readonly resource: Pick<ObjectResource, 'kind' | 'listKind' | 'columns'>;
  readonly metadata: ListMeta;
  readonly selection: Selection;
}

interface ListRequest {
  readonly query: URLSearchParams;
  /** Called only where it takes long. */
  readonly signal: () => AbortSignal;
  readonly slices: TimeSlices;
}

/**
 * Encodes a list, or the requested conversion of it. JSON on one line and protobuf, which programs request, are joined
 * from the cached encodings of blocks; all else is encoded for each request.
 */
export async function encodeList(
  list: ObjectList,
  { format, isPretty, conversion }: Representation,
  { query, signal, slices }: ListRequest,
): Promise<ResponseBody> {
  const target = conversion && toMetaConversion(conversion);
  const shared = blockFormatOf({ format, isPretty, conversion });
  if (target || !shared) {
    const document = target
      ? convertList({ ...list, items: selectedObjects(list.selection) }, target, query)
      : listDocument(list);
    return { pieces: [await encodeListDocument(document, { format, isPretty }, { slices, signal })] };
  }
  const { selection } = list;
  const blocks: EncodedBlock[] = [];
  for (const { block } of selection) blocks.push(await encodeBlock(block, shared, slices));
  const frame = FRAMES[shared];
  if (!selection.every(isWhole)) return { pieces: frame(list, itemsOf(selection, blocks)) };
  const encodedBlocks = blocks.filter(({ bytes }) => bytes.length > 0);
  const pieces = frame(
    list,
    encodedBlocks.map(({ bytes }) => bytes),
  );
  return { pieces, gzipped: () => gzipOnce(encodedBlocks, pieces) };
}

/** The format in which a list is joined from shared blocks; `undefined` where it is encoded for one request. */
export function blockFormatOf({ format, isPretty, conversion }: Representation): BlockFormat | undefined {
  if (conversion || format === 'yaml' || (format === 'json' && isPretty)) return undefined;
  return format;
}

const [COMMA, END] = [Buffer.from(','), Buffer.from(']}\n')];

/** The bytes before, between and after the items of a list. */
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
  /** The bytes before the blocks: a list has a version of its own. */
  readonly head: Buffer | undefined;
  /** `undefined` once one of the blocks has been freed: this list will not be requested again. */
  gzipped: Promise<readonly Buffer[]> | undefined;
}

/**
 * By the first of their blocks: the latest list of that block alone, which is a namespace's, and of that block with
 * others. The block may be the same for hours while others change, so nothing else is retained with it.
 */
const COMPRESSED = new WeakMap<EncodedBlock, { alone?: CompressedList; withOthers?: CompressedList }>();

const collectedBlocks = new FinalizationRegistry<CompressedList>((list) => {
  list.gzipped = undefined;
  collectedBlocks.unregister(list);
});

/**
 * Compresses a list of encodedBlocks blocks, once for as long as these are served.
 *
 * @param pieces of the list: the first precedes all blocks
 */
function gzipOnce(blocks: readonly EncodedBlock[], pieces: readonly Buffer[]): Promise<readonly Buffer[]> {
  const [first, ...others] = blocks;
  if (!first) return gzip(pieces);
  const lists = COMPRESSED.get(first) ?? {};
  COMPRESSED.set(first, lists);
  const extent = others.length === 0 ? 'alone' : 'withOthers';
  const cached = lists[extent];
  const [head] = pieces;
  if (cached?.gzipped && isSame(cached, { blocks, head })) return cached.gzipped;
  if (cached) collectedBlocks.unregister(cached);
  const gzipped = gzip(pieces);
  const list: CompressedList = { blocks: blocks.map((block) => new WeakRef(block)), head, gzipped };
  for (const block of blocks) collectedBlocks.register(block, list, list);
  lists[extent] = list;
  gzipped.catch(() => {
    list.gzipped = undefined; // retried with the next request
  });
  return gzipped;
}

function isSame(
  cached: CompressedList,
  requested: { readonly blocks: readonly EncodedBlock[]; readonly head: Buffer | undefined },
): boolean {
  const hasSameHead =
    cached.head && requested.head ? cached.head.equals(requested.head) : cached.head === requested.head;
  return (
    hasSameHead &&
    cached.blocks.length === requested.blocks.length &&
    cached.blocks.every((block, index) => block.deref() === requested.blocks[index])
  );
}
