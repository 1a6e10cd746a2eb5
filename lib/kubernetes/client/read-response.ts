import type { Dispatcher } from 'undici';
import { MalformedResponse } from './malformed-response.ts';

/** The body of a response, as it comes. */
export type ResponseBody = Dispatcher.ResponseData['body'];

/**
 * Reads a whole body as JSON.
 *
 * @throws {MalformedResponse} when it is longer than allowed, or no JSON
 */
export async function readJson(body: ResponseBody, maxBytes: number): Promise<unknown> {
  const bytes = await readBytes(body, maxBytes);
  if (bytes.length > maxBytes) throw new MalformedResponse(`the response is longer than ${maxBytes} bytes`);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new MalformedResponse('the response is no JSON'); // the parser's own words quote it, and reviews hold tokens
  }
}

/** Reads at least as many bytes as asked for, or all; leaving the rest unread breaks the connection. */
export async function readBytes(body: ResponseBody, minBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > minBytes) break;
  }
  return Buffer.concat(chunks, bytes);
}
