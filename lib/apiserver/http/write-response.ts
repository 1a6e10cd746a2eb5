import { type Document, type Encoding, textOrBytes } from '#lib/apiserver/encoding/document.ts';
import {
  MEDIA_TYPES,
  NO_CONVERSION,
  negotiate,
  type Representation,
  type Restrictions,
} from '#lib/apiserver/encoding/media-type.ts';
import type { ApiContext } from './api-context.ts';
import type { ResponseBody } from './response-body.ts';
import { notAcceptable, type StatusError, statusDocument } from './status-error.ts';

/**
 * Agrees with the client on a representation.
 *
 * @throws {StatusError} 406 when there is none
 */
export function negotiateResponse(
  context: ApiContext,
  restrictions: Restrictions = NO_CONVERSION,
): Representation {
  const representation = negotiate(context.req.headers.accept ?? '', restrictions);
  if (!representation) {
    const accepted = Object.values(MEDIA_TYPES).join(', ');
    throw notAcceptable(`only the following media types are accepted: ${accepted}`);
  }
  return { ...representation, isPretty: representation.isPretty || isForHumans(context) };
}

/** Responds with a document in the format that the client prefers. */
export function writeDocument(context: ApiContext, document: Document): void {
  const encoding = negotiateResponse(context);
  writeBody(context, textOrBytes(document, encoding), encoding.format);
}

/** So many characters at most are sent as text, which Node puts into one piece with the headers: bytes are copied once more. */
const MOST_CHARACTERS = 4096;

/** What is smaller crosses a cluster's network faster than it is compressed; Kubernetes' servers do the same. */
const GZIP_FROM_BYTES = 128 * 1024;

/** Responds with what is encoded already; its pieces are put together once all middleware has run. */
export function writeBody(
  context: ApiContext,
  body: string | Buffer | ResponseBody,
  format: Encoding['format'],
): void {
  context.state.gzipFromBytes = GZIP_FROM_BYTES;
  context.res.setHeader('Content-Type', MEDIA_TYPES[format]);
  if (typeof body === 'string') context.body = maySendText(context, body) ? body : Buffer.from(body);
  else if (Buffer.isBuffer(body)) context.body = body;
  else context.state.body = body;
}

/** Headers that go with text are written as UTF-8 like it, which would make other bytes of what a client sent, and gets back. */
function maySendText({ res }: ApiContext, body: string): boolean {
  return body.length <= MOST_CHARACTERS && PLAIN.test(String(res.getHeader('Audit-Id')));
}

const PLAIN = /^[ -~]*$/;

/** Responds with a failure; where the client takes no format of ours it gets indented JSON, as in Kubernetes. */
export function writeStatus(context: ApiContext, failure: StatusError): void {
  const agreed = negotiate(context.get('Accept'), NO_CONVERSION);
  const encoding: Encoding = agreed
    ? { format: agreed.format, isPretty: agreed.isPretty || isForHumans(context) }
    : { format: 'json', isPretty: true };
  const { retryAfterSeconds } = failure.details ?? {};
  if (retryAfterSeconds) context.set('Retry-After', String(retryAfterSeconds));
  context.status = failure.code;
  writeBody(context, textOrBytes(statusDocument(failure), encoding), encoding.format);
}

function isForHumans(context: ApiContext): boolean {
  return wantsPretty(context.state.query, context.req.headers['user-agent'] ?? '');
}

const TRUE_WORDS = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const HUMAN_AGENTS = ['curl', 'Wget', 'Mozilla/5.0'];

/** Whether JSON is to be indented: when `?pretty` says so, or when it says nothing and a human seems to read. */
export function wantsPretty(query: URLSearchParams, userAgent: string): boolean {
  const asked = query.get('pretty');
  if (asked) return TRUE_WORDS.has(asked);
  return HUMAN_AGENTS.some((agent) => userAgent.startsWith(agent));
}
