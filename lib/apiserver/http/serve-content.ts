import { createHash } from 'node:crypto';
import type { ApiContext } from './api-context.ts';

/** Bytes that stay the same for a while, for clients to keep. */
export interface Content {
  readonly mediaType: string;
  readonly body: Buffer;
  /** See `contentHash`. */
  readonly hash: string;
  readonly modifiedAtMs: number;
}

/** Responds with content, with the part of it that is asked for, or with 304 where the client has it already. */
export function serveContent(context: ApiContext, content: Content): void {
  const { mediaType, body, hash, modifiedAtMs } = content;
  context.set('ETag', `"${hash}"`);
  context.set('Last-Modified', new Date(modifiedAtMs).toUTCString());
  context.status = 200; // what freshness is told of
  if (context.fresh) {
    context.remove('Last-Modified'); // the hash says it better
    context.status = 304;
    return;
  }
  context.set('Content-Type', mediaType);
  context.set('Accept-Ranges', 'bytes');
  const range = readRange(context.get('Range'), body.length);
  if (range === 'unsatisfiable') {
    context.status = 416;
    context.set('Content-Range', `bytes */${body.length}`);
    context.body = Buffer.alloc(0);
  } else if (range) {
    context.status = 206;
    context.set('Content-Range', `bytes ${range.start}-${range.end}/${body.length}`);
    context.body = body.subarray(range.start, range.end + 1);
  } else {
    context.body = body;
  }
}

interface Range {
  readonly start: number;
  /** Inclusive. */
  readonly end: number;
}

/** @returns `undefined` for all of it, which is also the response to several ranges at once */
function readRange(header: string, length: number): Range | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
  const start = first === '' ? Math.max(0, length - Number(last)) : Number(first);
  const end = first === '' || last === '' ? length - 1 : Math.min(Number(last), length - 1);
  return start > end || start >= length ? 'unsatisfiable' : { start, end };
}

/** The hash by which Kubernetes' servers name a version of a document: SHA-512 in upper case. */
export function contentHash(content: string | Buffer): string {
  return createHash('sha512').update(content).digest('hex').toUpperCase();
}
