import { gzip } from '#lib/apiserver/http/response-body.ts';
import type { EncodedBatch } from './encoded-batch.ts';

interface CompressedList {
  readonly batches: readonly EncodedBatch[];
  /** What stands before the batches: a list has a version of its own. */
  readonly head: Buffer | undefined;
  readonly gzipped: Promise<readonly Buffer[]>;
}

/** By the first of their batches: the latest list of that one alone, which is a namespace's, and of that one with others. */
const kept = new WeakMap<EncodedBatch, { alone?: CompressedList; withOthers?: CompressedList }>();

/**
 * Compresses a list of whole batches, once for as long as these are served.
 *
 * @param pieces of the list: the first stands before all batches
 */
export function gzipOnce(
  batches: readonly EncodedBatch[],
  pieces: readonly Buffer[],
): Promise<readonly Buffer[]> {
  const [first, ...others] = batches;
  if (!first) return gzip(pieces);
  const lists = kept.get(first) ?? {};
  kept.set(first, lists);
  const place = others.length === 0 ? 'alone' : 'withOthers';
  const known = lists[place];
  const [head] = pieces;
  if (known && isSame(known, { batches, head })) return known.gzipped;
  const gzipped = gzip(pieces);
  lists[place] = { batches, head, gzipped };
  return gzipped;
}

function isSame(known: CompressedList, asked: Pick<CompressedList, 'batches' | 'head'>): boolean {
  const hasSameHead = known.head && asked.head ? known.head.equals(asked.head) : known.head === asked.head;
  return (
    hasSameHead &&
    known.batches.length === asked.batches.length &&
    known.batches.every((batch, index) => batch === asked.batches[index])
  );
}
