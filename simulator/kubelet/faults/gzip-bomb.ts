import { gzipSync } from 'node:zlib';
import type { Fault } from './fault.ts';

/** A mebibyte of white space compressed; any number of them in a row are a valid gzip file, too. */
const MEMBER = gzipSync(Buffer.alloc(1024 * 1024, ' '), { level: 9 });

/** A response of about a megabyte that says it is compressed, to every client, and unpacks to so many mebibytes. */
export function gzipBomb(mebibytes: number): Fault {
  return {
    change: (reply) => ({
      ...reply,
      headers: { ...reply.headers, 'Content-Encoding': 'gzip' },
      body: Buffer.concat(Array.from({ length: mebibytes }, () => MEMBER)),
    }),
  };
}
