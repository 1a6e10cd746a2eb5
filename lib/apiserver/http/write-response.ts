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
 * Negotiates the representation.
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

/**
 * Up to this length a body is sent as a string, which Node writes in one piece with the headers; bytes are copied once
 * more.
 */
const MAX_TEXT_LENGTH = 4096;

/** Smaller bodies cross a cluster's network faster than they are compressed; as in Kubernetes' servers. */
const GZIP_FROM_BYTES = 128 * 1024;

/** Responds with an encoded body; its pieces are joined once all middleware has run. */
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

/**
 * Whether all headers are ASCII: headers that are sent with a string are encoded as UTF-8 like it, which would change
 * the bytes of those that return what the client sent.
 */
function maySendText({ res }: ApiContext, body: string): boolean {
  return body.length <= MAX_TEXT_LENGTH && PLAIN.test(String(res.getHeader('Audit-Id')));
}

const PLAIN = /^[ -~]*$/;

/** Responds with a failure; in indented JSON where the client accepts no supported format, as in Kubernetes. */
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
  return isPrettyRequested(context.state.query, context.req.headers['user-agent'] ?? '');
}

const TRUE_WORDS = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const HUMAN_AGENTS = ['curl', 'Wget', 'Mozilla/5.0'];

/** Whether JSON is indented: by `?pretty`, or, without it, when the client seems to be a person's. */
export function isPrettyRequested(query: URLSearchParams, userAgent: string): boolean {
  const requested = query.get('pretty');
  if (requested) return TRUE_WORDS.has(requested);
  return HUMAN_AGENTS.some((agent) => userAgent.startsWith(agent));
}

/** Media types of a route. */
export interface RouteMediaTypes {
  readonly produces: readonly string[];
  /** Of bodies, though none is read; by default the same. */
  readonly consumes?: readonly string[];
}

/**
 * @throws {StatusError} in go-restful's order: 405 for other methods, 415 for a body of another declared type, 406
 * where the client accepts none of the produced types
 */
export function requireGet(context: ApiContext, { produces, consumes = produces }: RouteMediaTypes): void {
  const { method, headers } = context.req;
  if (method !== 'GET') throw methodNotAllowed();
  if (!canConsume(headers['content-type'] ?? '', consumes)) throw unsupportedMediaType();
  if (!canProduce(headers.accept ?? '', produces)) throw notProducible(produces);
}

/**
 * Whether a route that produces these media types matches an Accept header. This is go-restful's test, which precedes
 * Kubernetes' own: it ignores qualities and parameters, and supports no wildcard but the full one.
 */
export function canProduce(accept: string, mediaTypes: readonly string[]): boolean {
  if (accept === '') return true;
  return mentioned(accept).some((mediaType) => mediaType === '*/*' || mediaTypes.includes(mediaType));
}

/** Whether a route accepts bodies of a Content-Type. */
export function canConsume(contentType: string, mediaTypes: readonly string[]): boolean {
  if (contentType === '' || mediaTypes.includes('*/*')) return true;
  return mentioned(contentType).some((mediaType) => mediaTypes.includes(mediaType));
}

const mentioned = memoize(
  (header): readonly string[] => header.split(',').map((clause) => (clause.split(';', 1)[0] ?? '').trim()),
  { maxEntries: 128, maxLength: 512 },
);

/** Bytes that clients can cache. */
export interface Content {
  readonly mediaType: string;
  readonly body: Buffer;
  /** See `contentHash`. */
  readonly hash: string;
  readonly modifiedAtMs: number;
}

/** Responds with content, with the requested range of it, or with 304 where the client has it already. */
export function serveContent(context: ApiContext, content: Content): void {
  const { mediaType, body, hash, modifiedAtMs } = content;
  context.set('ETag', `"${hash}"`);
  context.set('Last-Modified', new Date(modifiedAtMs).toUTCString());
  context.status = 200; // required by koa's `fresh`
  if (context.fresh) {
    context.remove('Last-Modified'); // the hash is the better validator
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

/** @returns `undefined` for all of it, also for several ranges at once */
function readRange(header: string, length: number): Range | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
  const start = first === '' ? Math.max(0, length - Number(last)) : Number(first);
  const end = first === '' || last === '' ? length - 1 : Math.min(Number(last), length - 1);
  return start > end || start >= length ? 'unsatisfiable' : { start, end };
}

/** The hash by which Kubernetes' servers identify a version of a document: SHA-512 in upper case. */
export function contentHash(content: string | Buffer): string {
  return createHash('sha512').update(content).digest('hex').toUpperCase();
}
