import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';

/** What the writer of a response must know of the request. */
export interface ResponseStyle {
  /** Indented by two spaces, for people. */
  readonly isPretty: boolean;
  readonly acceptsGzip: boolean;
}

// The real server leaves responses below this size uncompressed.
const GZIP_FROM_BYTES = 128 * 1024;

/** Sends a value as JSON. */
export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  { isPretty, acceptsGzip }: ResponseStyle,
): void {
  const text = Buffer.from(isPretty ? JSON.stringify(value, null, 2) : `${JSON.stringify(value)}\n`);
  const isZipped = acceptsGzip && text.length > GZIP_FROM_BYTES;
  const body = isZipped ? gzipSync(text, { level: 1 }) : text;
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'application/json');
  if (isZipped) response.setHeader('Content-Encoding', 'gzip');
  response.writeHead(status, { 'Content-Length': body.length });
  response.end(body);
}

/** Sends a list in pieces of text, so that the largest one costs no more memory than a few of them. */
export async function sendPieces(
  response: ServerResponse,
  pieces: Iterable<string>,
  { acceptsGzip }: ResponseStyle,
): Promise<void> {
  const chunks = inChunks(pieces);
  const first = chunks.next().value ?? '';
  response.setHeader('Content-Type', 'application/json');
  const rest = (function* () {
    yield first;
    yield* chunks;
  })();
  if (acceptsGzip && first.length >= GZIP_FROM_BYTES) {
    response.setHeader('Content-Encoding', 'gzip');
    await pipeline(Readable.from(rest), createGzip({ level: 1 }), response);
  } else {
    await pipeline(Readable.from(rest), response);
  }
}

function* inChunks(pieces: Iterable<string>): Generator<string, undefined> {
  let chunk = '';
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length < GZIP_FROM_BYTES) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}
