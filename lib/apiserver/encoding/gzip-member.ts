import { combineCrc32 } from './combine-crc32.ts';
import type { Deflated } from './deflated.ts';

/** Deflated, neither name nor time, made as fast as can be, by an unknown system (RFC 1952, section 2.3). */
const HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255]);

/** The last block, with nothing in it. */
const LAST_BLOCK = Buffer.from([3, 0]);

/**
 * Makes one gzip file of parts that were compressed each by itself, in pieces that follow one another. It is one member: of
 * several, which the format allows, some clients read the first alone.
 */
export function gzipMember(parts: readonly Deflated[]): readonly Buffer[] {
  let [checksum, length] = [0, 0];
  for (const part of parts) {
    checksum = combineCrc32(checksum, part.crc32, part.length);
    length += part.length;
  }
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(checksum, 0);
  tail.writeUInt32LE(length % 2 ** 32, 4);
  return [HEAD, ...parts.map(({ bytes }) => bytes), LAST_BLOCK, tail];
}
