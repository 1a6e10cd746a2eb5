import { gzip } from '#lib/apiserver/http/response-body.ts';
import type { EncodedBlock } from './encoded-block.ts';

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
export function gzipOnce(
  blocks: readonly EncodedBlock[],
  pieces: readonly Buffer[],
): Promise<readonly Buffer[]> {
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
