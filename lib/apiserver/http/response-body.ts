import { once } from 'node:events';
import { Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';

/** A response's body, already encoded, in pieces that follow one another. */
export interface ResponseBody {
  readonly pieces: readonly Buffer[];
  /** The same compressed, where that is kept for the next response; without it, it is compressed for this one alone. */
  readonly gzipped?: () => Promise<readonly Buffer[]>;
}

/** What is longer is sent in pieces, as fast as the client takes them, instead of being copied together. */
const STREAM_FROM_BYTES = 1024 * 1024;

/** What is written at once of a long body: it is encrypted at once, too, and held twice meanwhile. */
const PIECE_BYTES = 256 * 1024;

/** How much of a long body lies between what it is made of and the client at most: a piece, and as much encrypted. */
const TRANSIT_BYTES = 2 * PIECE_BYTES;

/** What is shorter is not worth counting: there are only so many requests at once. */
export const COUNTED_FROM_BYTES = 64 * 1024;

/** What is shorter is put together with other short pieces: each write costs as much, however little it writes. */
const SHORT_PIECE_BYTES = 32 * 1024;

/** How long a body is, uncompressed, in bytes. */
export function lengthOf({ pieces }: ResponseBody): number {
  return bytesOf(pieces);
}

/**
 * How much memory a response takes until its client has read it, beside what it shares with others.
 *
 * @returns 0 where it is too little to be counted
 */
export function heldBytes(body: ResponseBody): number {
  const length = lengthOf(body);
  if (length < COUNTED_FROM_BYTES) return 0;
  return (body.gzipped ? 0 : length) + Math.min(length, TRANSIT_BYTES);
}

/** What is sent of pieces that follow one another. */
export function sentBody(pieces: readonly Buffer[]): {
  readonly body: Buffer | Readable;
  readonly length: number;
} {
  const length = bytesOf(pieces);
  if (length < STREAM_FROM_BYTES) return { body: joined(pieces), length };
  return { body: Readable.from(writes(pieces), { highWaterMark: 1 }), length };
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

const GZIP_OPTIONS = {
  level: constants.Z_BEST_SPEED,
  chunkSize: 256 * 1024, // each is a job of the thread pool: few large ones cost less than many small ones
};

/** Compresses a body off the event loop, a longer piece at a time: a copy of the whole would take as much memory again. */
export async function gzip(pieces: readonly Buffer[]): Promise<readonly Buffer[]> {
  const compressor = createGzip(GZIP_OPTIONS);
  const compressed: Buffer[] = [];
  compressor.on('data', (chunk: Buffer) => compressed.push(trimmed(chunk)));
  const ended = once(compressor, 'end');
  Readable.from(writes(pieces)).pipe(compressor);
  await ended;
  return compressed;
}

/** A short piece of a chunk would hold all of it. */
function trimmed(chunk: Buffer): Buffer {
  return chunk.length < chunk.buffer.byteLength / 2 ? Buffer.from(chunk) : chunk;
}

/** How long pieces are that follow one another, in bytes. */
export function bytesOf(pieces: readonly Buffer[]): number {
  let bytes = 0;
  for (const piece of pieces) bytes += piece.length;
  return bytes;
}

/** Pieces that follow one another as one; a single one is not copied. */
function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return first && pieces.length === 1 ? first : Buffer.concat(pieces);
}
