import type { Client, Dispatcher } from 'undici';

/** One request for something that is served. */
export interface Question {
  readonly path: string;
  readonly mediaType: string;
  /** Whether the answer may come compressed. */
  readonly gzip: boolean;
  /** Beside those that say how the answer is to be written. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Asked to make a connection, or to see that it is there: by that nothing is encoded. */
export const PROBE: Question = { path: '/livez', mediaType: '*/*', gzip: false };

/** The headers of an answer. */
export type AnswerHeaders = Dispatcher.ResponseData['headers'];

/**
 * Sends one request and reads its answer to the end without looking at it.
 *
 * @returns how long the body was on the wire, in bytes
 * @throws Error at an answer other than 200 or of another format
 */
export async function ask(client: Client, question: Question): Promise<number> {
  let bytes = 0;
  await receive(client, question, (chunk) => {
    bytes += chunk.length;
  });
  return bytes;
}

/**
 * Sends one request and hands out the body of its answer as it comes.
 *
 * @throws Error at an answer other than 200 or of another format
 */
export async function receive(
  client: Client,
  question: Question,
  onChunk: (chunk: Buffer) => void,
): Promise<AnswerHeaders> {
  const { path, mediaType } = question;
  const headers = { ...encodingHeaders(question), ...question.headers };
  const { statusCode, headers: answered, body } = await client.request({ method: 'GET', path, headers });
  for await (const chunk of body) onChunk(chunk as Buffer);
  const type = String(answered['content-type']);
  if (statusCode !== 200 || !(mediaType === '*/*' || type.startsWith(mediaType))) {
    throw new Error(`Cannot measure ${path} as ${mediaType}: the answer was ${statusCode}, ${type}`);
  }
  return answered;
}

/** The headers that say how an answer is to be written. */
export function encodingHeaders({ mediaType, gzip }: Question) {
  return { accept: mediaType, 'accept-encoding': gzip ? 'gzip' : 'identity' };
}
