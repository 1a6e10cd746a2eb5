import { Readable } from 'node:stream';
import { type Deflated, deflate, store } from './encoding/deflated.ts';
import { gzipMember } from './encoding/gzip-member.ts';

/** A part of an answer's body, already encoded. */
export interface AnswerPart {
  readonly bytes: Buffer;
  /** Compresses it; at most once for all answers that it is part of. Without it, it is part of this answer alone. */
  readonly deflated?: () => Promise<Deflated>;
}

/** What is longer is sent in pieces, as fast as the client takes them, instead of being copied together. */
const STREAM_FROM_BYTES = 1024 * 1024;

/** What is written at once of a long body: it is encrypted at once, too, and held twice meanwhile. */
const PIECE_BYTES = 256 * 1024;

/** A body of pieces that follow one another. */
export function bodyOf(pieces: readonly Buffer[]): {
  readonly body: Buffer | Readable;
  readonly length: number;
} {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (length < STREAM_FROM_BYTES) return { body: Buffer.concat(pieces, length), length };
  return { body: Readable.from(cut(pieces), { highWaterMark: 1 }), length };
}

function* cut(pieces: readonly Buffer[]): Generator<Buffer, void, void> {
  for (const piece of pieces) {
    for (let start = 0; start < piece.length; start += PIECE_BYTES)
      yield piece.subarray(start, start + PIECE_BYTES);
  }
}

/** Compresses a body, in pieces that follow one another. */
export async function gzipParts(parts: readonly AnswerPart[]): Promise<readonly Buffer[]> {
  const compressed: Deflated[] = [];
  let own: Buffer[] = [];
  const finishOwn = async () => {
    if (own.length > 0) compressed.push(await deflateOwn(own));
    own = [];
  };
  for (const { bytes, deflated } of parts) {
    if (!deflated) {
      own.push(bytes);
      continue;
    }
    await finishOwn();
    compressed.push(await deflated()); // one after the other: each takes a quarter of a megabyte meanwhile
  }
  await finishOwn();
  return gzipMember(compressed);
}

/** Commas and the like are not worth the work. */
const SHORT_BYTES = 512;

function deflateOwn(pieces: readonly Buffer[]): Promise<Deflated> | Deflated {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return length <= SHORT_BYTES ? store(Buffer.concat(pieces)) : deflate(pieces);
}
