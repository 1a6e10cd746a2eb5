import { gzip } from '#lib/apiserver/http/response-body.ts';
import type { EncodedBlock } from './encoded-block.ts';

interface CompressedList {
  readonly blocks: readonly EncodedBlock[];
  /** What stands before the blocks: a list has a version of its own. */
  readonly head: Buffer | undefined;
  readonly gzipped: Promise<readonly Buffer[]>;
}

/** By the first of their blocks: the latest list of that one alone, which is a namespace's, and of that one with others. */
const kept = new WeakMap<EncodedBlock, { alone?: CompressedList; withOthers?: CompressedList }>();

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
  if (known && isSame(known, { blocks, head })) return known.gzipped;
  const gzipped = gzip(pieces);
  lists[place] = { blocks, head, gzipped };
  gzipped.catch(() => {
    if (lists[place]?.gzipped === gzipped) delete lists[place]; // what failed once may be tried again
  });
  return gzipped;
}

function isSame(known: CompressedList, asked: Pick<CompressedList, 'blocks' | 'head'>): boolean {
  const hasSameHead = known.head && asked.head ? known.head.equals(asked.head) : known.head === asked.head;
  return (
    hasSameHead &&
    known.blocks.length === asked.blocks.length &&
    known.blocks.every((block, index) => block === asked.blocks[index])
  );
}
