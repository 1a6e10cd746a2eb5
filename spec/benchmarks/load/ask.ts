import type { Client } from 'undici';

/** One request for something that is served. */
export interface Question {
  readonly path: string;
  readonly mediaType: string;
  /** Whether the answer may come compressed. */
  readonly gzip: boolean;
  /** Beside those that say how the answer is to be written. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Sends one request and reads its answer to the end without looking at it.
 *
 * @returns how long the body was on the wire, in bytes
 * @throws Error at an answer other than 200 or of another format
 */
export async function ask(client: Client, question: Question): Promise<number> {
  const { path, mediaType, gzip } = question;
  const encoding = { accept: mediaType, 'accept-encoding': gzip ? 'gzip' : 'identity' };
  const headers = { ...encoding, ...question.headers };
  const { statusCode, headers: answered, body } = await client.request({ method: 'GET', path, headers });
  let bytes = 0;
  for await (const chunk of body) bytes += (chunk as Buffer).length;
  const type = String(answered['content-type']);
  if (statusCode !== 200 || !(mediaType === '*/*' || type.startsWith(mediaType))) {
    throw new Error(`Cannot measure ${path} as ${mediaType}: the answer was ${statusCode}, ${type}`);
  }
  return bytes;
}
