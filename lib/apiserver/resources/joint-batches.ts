import { type Deflated, deflate } from '#lib/apiserver/encoding/deflated.ts';
import type { AnswerPart } from '#lib/apiserver/http/response-part.ts';
import type { EncodedBatch } from './encoded-batch.ts';

/** What is at least as long is compressed by itself: of less, compressing takes longer and saves less. */
const LONG_BYTES = 64 * 1024;

/** Batches that were compressed together. */
interface Joint {
  readonly batches: readonly EncodedBatch[];
  readonly deflated: Promise<Deflated>;
}

/** By the first of their batches, and one for each: there is no end of ways in which batches may follow one another. */
const kept = new WeakMap<EncodedBatch, Joint>();

/**
 * Makes parts of batches that follow one another: a part of a long one, and one of several short ones.
 *
 * @param separator what stands between two batches
 */
export function jointParts(
  batches: readonly EncodedBatch[],
  separator: Buffer | undefined,
): readonly AnswerPart[] {
  const parts: AnswerPart[] = [];
  for (const together of groupShort(batches)) {
    if (separator && parts.length > 0) parts.push({ pieces: [separator] });
    const pieces = separated(
      together.map(({ bytes }) => bytes),
      separator,
    );
    parts.push({ pieces, deflated: () => deflateOnce(together, pieces) });
  }
  return parts;
}

/** Pieces with something between them. */
export function separated(pieces: readonly Buffer[], separator: Buffer | undefined): readonly Buffer[] {
  if (!separator) return pieces;
  return pieces.flatMap((piece, index) => (index === 0 ? [piece] : [separator, piece]));
}

function groupShort(batches: readonly EncodedBatch[]): readonly (readonly EncodedBatch[])[] {
  const groups: EncodedBatch[][] = [];
  let shortBytes = LONG_BYTES; // of the last group, to which a short batch may be added
  for (const batch of batches) {
    const { length } = batch.bytes;
    const last = groups.at(-1);
    if (last && length < LONG_BYTES && shortBytes < LONG_BYTES) {
      last.push(batch);
      shortBytes += length;
    } else {
      groups.push([batch]);
      shortBytes = length;
    }
  }
  return groups;
}

function deflateOnce(batches: readonly EncodedBatch[], pieces: readonly Buffer[]): Promise<Deflated> {
  const [first] = batches;
  const known = first && kept.get(first);
  if (known && isSame(known.batches, batches)) return known.deflated;
  const deflated = deflate(pieces);
  if (first) {
    kept.set(first, { batches, deflated });
    deflated.catch(() => kept.delete(first)); // whoever asks next tries again
  }
  return deflated;
}

function isSame(a: readonly EncodedBatch[], b: readonly EncodedBatch[]): boolean {
  return a.length === b.length && a.every((batch, index) => batch === b[index]);
}
