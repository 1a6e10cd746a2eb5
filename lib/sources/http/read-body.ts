import type { Dispatcher } from 'undici';

/** How much of a body is read. */
export interface ReadBodyOptions {
  readonly maxBytes: number;
  /** Told how long it is so far, and waited for before more is read. */
  readonly onLength?: ((bytes: number) => Promise<void>) | undefined;
}

/**
 * Reads a whole body.
 *
 * @throws when it is longer than allowed; the rest is left unread, which breaks the connection
 */
export async function readBody(
  { body }: Dispatcher.ResponseData,
  { maxBytes, onLength }: ReadBodyOptions,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`the response is longer than ${maxBytes} bytes`);
    if (onLength) await onLength(bytes);
  }
  return Buffer.concat(chunks, bytes);
}
