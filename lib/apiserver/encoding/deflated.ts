import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';
import { joined } from './pieces.ts';

/** Text that is compressed so that it can stand between others (RFC 1951: whole blocks, none of them the last). */
export interface Deflated {
  readonly bytes: Buffer;
  /** Of the text. */
  readonly crc32: number;
  /** Of the text, in bytes. */
  readonly length: number;
}

const OPTIONS = {
  level: constants.Z_BEST_SPEED,
  finishFlush: constants.Z_SYNC_FLUSH, // ends at a whole byte, and is not the end
  chunkSize: 256 * 1024, // each is a turn of the thread pool: few large ones cost less than many small ones
};

const compress = promisify(deflateRaw);

/** Compresses a text that comes in pieces, off the event loop; all at once, for each call costs more than some kilobytes do. */
export async function deflate(pieces: readonly Buffer[]): Promise<Deflated> {
  const text = joined(pieces);
  const compressed = await compress(text, OPTIONS);
  const isSmallPart = compressed.length < compressed.buffer.byteLength / 2; // of a chunk, which would be held whole
  const bytes = isSmallPart ? Buffer.from(compressed) : compressed;
  return { bytes, crc32: crc32(text), length: text.length };
}

/**
 * Puts a short text into a block as it is.
 *
 * @param text of 65,535 bytes at most
 */
export function store(text: Buffer): Deflated {
  const head = Buffer.alloc(5);
  head.writeUInt16LE(text.length, 1);
  head.writeUInt16LE(text.length ^ 0xffff, 3);
  return { bytes: Buffer.concat([head, text]), crc32: crc32(text), length: text.length };
}
