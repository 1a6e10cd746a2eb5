import { once } from 'node:events';
import { Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';

/** The encoded body of a response, in consecutive pieces. */
export interface ResponseBody {
  readonly pieces: readonly Buffer[];
  /**
   * The same compressed, where that is cached for later responses; by default, compression is for this response alone.
   */
  readonly gzipped?: () => Promise<readonly Buffer[]>;
}

/** A longer body is sent in pieces, as fast as the client reads, instead of being concatenated. */
const STREAM_FROM_BYTES = 1024 * 1024;

/** Size of one write of a long body: it is encrypted in one step, and buffered twice meanwhile. */
const PIECE_BYTES = 256 * 1024;

/** Maximum part of a long body on its way to the client: a piece, and the same encrypted. */
const TRANSIT_BYTES = 2 * PIECE_BYTES;

/** Shorter responses are not counted: the number of concurrent requests is bounded. */
export const MIN_COUNTED_BYTES = 64 * 1024;

/** Shorter pieces are concatenated: each write has a fixed cost. */
const SHORT_PIECE_BYTES = 32 * 1024;

/** Uncompressed length in bytes. */
export function lengthOf({ pieces }: ResponseBody): number {
  return bytesOf(pieces);
}

/**
 * Memory that a response takes until its client has read it, beside what it shares with others.
 *
 * @returns 0 where it is too little to be counted
 */
export function bufferedBytes(body: ResponseBody): number {
  const length = lengthOf(body);
  if (length < MIN_COUNTED_BYTES) return 0;
  return (body.gzipped ? 0 : length) + Math.min(length, TRANSIT_BYTES);
}

/** A body as it is sent. */
export function sentBody(pieces: readonly Buffer[]): {
  readonly body: Buffer | Readable;
  readonly length: number;
} {
  const length = bytesOf(pieces);
  if (length < STREAM_FROM_BYTES) return { body: joined(pieces), length };
  return { body: Readable.from(writes(pieces), { highWaterMark: 1 }), length };
}

/** Splits long pieces, and concatenates short ones. */
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

/** Compresses a body off the event loop, piece by piece: a concatenated copy would double the memory. */
export async function gzip(pieces: readonly Buffer[]): Promise<readonly Buffer[]> {
  const compressor = createGzip(GZIP_OPTIONS);
  const compressed: Buffer[] = [];
  compressor.on('data', (chunk: Buffer) => compressed.push(trimmed(chunk)));
  const ended = once(compressor, 'end');
  Readable.from(writes(pieces)).pipe(compressor);
  await ended;
  return compressed;
}

/** Copies a chunk that is mostly unused: a short slice would retain all of it. */
function trimmed(chunk: Buffer): Buffer {
  return chunk.length < chunk.buffer.byteLength / 2 ? Buffer.from(chunk) : chunk;
}

/** Total length of pieces in bytes. */
export function bytesOf(pieces: readonly Buffer[]): number {
  let bytes = 0;
  for (const piece of pieces) bytes += piece.length;
  return bytes;
}

/** Concatenates pieces; a single one is not copied. */
function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return first && pieces.length === 1 ? first : Buffer.concat(pieces);
}
