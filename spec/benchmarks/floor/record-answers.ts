import { Client } from 'undici';
import type { ClientCertificate } from '../credentials.ts';
import { encodingHeaders, type Question, receive } from '../load/ask.ts';

/** What a server has answered, as it went over the wire. */
export interface Answer {
  /** Those that tell of the body; what belongs to a connection or to a moment is left out. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Answers by `answerKey`. */
export type RecordedAnswers = ReadonlyMap<string, Answer>;

/** Whose answers to which questions, and as whom to ask them. */
export interface Recording {
  readonly origin: string;
  readonly tls: ClientCertificate;
  readonly questions: readonly Question[];
}

const KEPT_HEADERS = ['content-type', 'content-encoding', 'vary', 'cache-control', 'audit-id'];

/**
 * Asks each question once and keeps the answer.
 *
 * @throws Error at an answer other than 200 or of another format
 */
export async function recordAnswers({ origin, tls, questions }: Recording): Promise<RecordedAnswers> {
  const client = new Client(origin, { connect: { ...tls, rejectUnauthorized: false }, allowH2: true });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => client.close());
  const answers = new Map<string, Answer>();
  for (const question of questions) {
    const chunks: Buffer[] = [];
    const answered = await receive(client, question, (chunk) => chunks.push(chunk));
    const headers = KEPT_HEADERS.flatMap((name) => {
      const value = answered[name];
      return value === undefined ? [] : [[name, String(value)] as const];
    });
    const asked = { url: question.path, headers: encodingHeaders(question) };
    answers.set(answerKey(asked), { headers: Object.fromEntries(headers), body: Buffer.concat(chunks) });
  }
  return answers;
}

/** What tells one answer from another, of a request as Node's servers have it. */
export function answerKey({ url, headers }: AskedFor): string {
  return `${headers.accept} ${headers['accept-encoding']} ${url}`;
}

interface AskedFor {
  readonly url?: string | undefined;
  readonly headers: {
    readonly accept?: string | undefined;
    readonly 'accept-encoding'?: string | string[] | undefined;
  };
}
