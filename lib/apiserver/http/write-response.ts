import { createHash } from 'node:crypto';
import { type Document, type Encoding, encodeDocument } from '#lib/apiserver/encoding/document.ts';
import {
  MEDIA_TYPES,
  NO_CONVERSION,
  negotiate,
  type Representation,
  type Restrictions,
} from '#lib/apiserver/encoding/media-type.ts';
import { memoize } from '#lib/cache/memoize.ts';
import type { ApiContext } from './api-context.ts';
import type { ResponseBody } from './response-body.ts';
import {
  methodNotAllowed,
  notAcceptable,
  notProducible,
  type StatusError,
  statusDocument,
  unsupportedMediaType,
} from './status-error.ts';

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
export function writeDocument(context: ApiContext, document: Document): Promise<void> | void {
  const encoding = negotiateResponse(context);
  return writeBody(context, encodeDocument(document, encoding), encoding.format);
}

/** So many characters at most are sent as text, which Node puts into one piece with the headers: bytes are copied once more. */
const MAX_TEXT_LENGTH = 4096;

/** What is smaller crosses a cluster's network faster than it is compressed; Kubernetes' servers do the same. */
const GZIP_FROM_BYTES = 128 * 1024;

/** Responds with what is encoded already; its pieces are put together once all middleware has run. */
export function writeBody(
  context: ApiContext,
  body: string | Buffer | ResponseBody | Promise<string>,
  format: Encoding['format'],
): Promise<void> | void {
  if (body instanceof Promise) return body.then((text) => writeBody(context, text, format));
  context.state.gzipFromBytes = GZIP_FROM_BYTES;
  context.res.setHeader('Content-Type', MEDIA_TYPES[format]);
  if (typeof body === 'string') context.body = maySendText(context, body) ? body : Buffer.from(body);
  else if (Buffer.isBuffer(body)) context.body = body;
  else context.state.body = body;
}

/** Headers that go with text are written as UTF-8 like it, which would make other bytes of what a client sent, and gets back. */
function maySendText({ res }: ApiContext, body: string): boolean {
  return body.length <= MAX_TEXT_LENGTH && PLAIN.test(String(res.getHeader('Audit-Id')));
}

const PLAIN = /^[ -~]*$/;

/** Responds with a failure; where the client takes no format of ours it gets indented JSON, as in Kubernetes. */
export function writeStatus(context: ApiContext, failure: StatusError): Promise<void> | void {
  const agreed = negotiate(context.get('Accept'), NO_CONVERSION);
  const encoding: Encoding = agreed
    ? { format: agreed.format, isPretty: agreed.isPretty || isForHumans(context) }
    : { format: 'json', isPretty: true };
  const { retryAfterSeconds } = failure.details ?? {};
  if (retryAfterSeconds) context.set('Retry-After', String(retryAfterSeconds));
  context.status = failure.code;
  return writeBody(context, encodeDocument(statusDocument(failure), encoding), encoding.format);
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

/** The media types of a route. */
export interface RouteMediaTypes {
  readonly produces: readonly string[];
  /** Of bodies, though none is read; by default the same. */
  readonly consumes?: readonly string[];
}

/**
 * @throws {StatusError} in go-restful's order: 405 for other methods, 415 for a body that is said to be of another
 * kind, 406 where the client takes nothing of what is produced
 */
export function requireGet(context: ApiContext, { produces, consumes = produces }: RouteMediaTypes): void {
  const { method, headers } = context.req;
  if (method !== 'GET') throw methodNotAllowed();
  if (!canConsume(headers['content-type'] ?? '', consumes)) throw unsupportedMediaType();
  if (!canProduce(headers.accept ?? '', produces)) throw notProducible(produces);
}

/**
 * Whether a route that produces these media types fits an Accept header at all. This is go-restful's test,
 * which comes before Kubernetes' own: it knows neither qualities nor parameters, nor any wildcard but the full one.
 */
export function canProduce(accept: string, mediaTypes: readonly string[]): boolean {
  if (accept === '') return true;
  return mentioned(accept).some((mediaType) => mediaType === '*/*' || mediaTypes.includes(mediaType));
}

/** Whether a route reads bodies of the kind that a Content-Type header names. */
export function canConsume(contentType: string, mediaTypes: readonly string[]): boolean {
  if (contentType === '' || mediaTypes.includes('*/*')) return true;
  return mentioned(contentType).some((mediaType) => mediaTypes.includes(mediaType));
}

const mentioned = memoize(
  (header): readonly string[] => header.split(',').map((clause) => (clause.split(';', 1)[0] ?? '').trim()),
  { maxEntries: 128, maxLength: 512 },
);

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
