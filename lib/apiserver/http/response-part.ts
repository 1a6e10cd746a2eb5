import { Readable } from 'node:stream';
import { type Deflated, deflate, store } from '#lib/apiserver/encoding/deflated.ts';
import { gzipMember } from '#lib/apiserver/encoding/gzip-member.ts';
import { bytesOf, joined } from '#lib/apiserver/encoding/pieces.ts';

/** A part of an answer's body, already encoded, in pieces that follow one another. */
export interface AnswerPart {
  readonly pieces: readonly Buffer[];
  /** Compresses it; at most once for all answers that it is part of. Without it, it is part of this answer alone. */
  readonly deflated?: () => Promise<Deflated>;
}

/** What is longer is sent in pieces, as fast as the client takes them, instead of being copied together. */
const STREAM_FROM_BYTES = 1024 * 1024;

/** What is written at once of a long body: it is encrypted at once, too, and held twice meanwhile. */
const PIECE_BYTES = 256 * 1024;

/** What is shorter is put together with other short pieces: each write costs as much, however little it writes. */
const SHORT_PIECE_BYTES = 32 * 1024;

/** A body of pieces that follow one another. */
export function bodyOf(pieces: readonly Buffer[]): {
  readonly body: Buffer | Readable;
  readonly length: number;
} {
  const length = bytesOf(pieces);
  if (length < STREAM_FROM_BYTES) return { body: joined(pieces), length };
  return { body: Readable.from(writes(pieces), { highWaterMark: 1 }), length };
}

/** How long the body of these parts is, uncompressed, in bytes. */
export function lengthOf(parts: readonly AnswerPart[]): number {
  let length = 0;
  for (const { pieces } of parts) length += bytesOf(pieces);
  return length;
}

/** Cuts what is long, and puts together what is short. */
function* writes(pieces: readonly Buffer[]): Generator<Buffer, void, void> {
  let [short, shortBytes]: [Buffer[], number] = [[], 0];
  for (const piece of pieces) {
    const isShort = piece.length < SHORT_PIECE_BYTES;
    if (shortBytes > 0 && (!isShort || shortBytes + piece.length > PIECE_BYTES)) {
      yield joined(short);
      [short, shortBytes] = [[], 0];
    }
    if (isShort) {
      short.push(piece);
      shortBytes += piece.length;
    } else {
      for (let start = 0; start < piece.length; start += PIECE_BYTES)
        yield piece.subarray(start, start + PIECE_BYTES);
    }
  }
  if (shortBytes > 0) yield joined(short);
}

/** Compresses a body, in pieces that follow one another. */
export async function gzipParts(parts: readonly AnswerPart[]): Promise<readonly Buffer[]> {
  const compressed: Deflated[] = [];
  let own: Buffer[] = [];
  const finishOwn = async () => {
    if (own.length > 0) compressed.push(await deflateOwn(own));
    own = [];
  };
  for (const { pieces, deflated } of parts) {
    if (!deflated) {
      for (const piece of pieces) own.push(piece);
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
  return bytesOf(pieces) <= SHORT_BYTES ? store(joined(pieces)) : deflate(pieces);
}
