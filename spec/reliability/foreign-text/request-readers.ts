import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import { bearerTokenAuthenticator } from '#lib/apiserver/access/bearer-token.ts';
import { RequestHeaders } from '#lib/apiserver/access/front-proxy.ts';
import { NO_CONVERSION, negotiate } from '#lib/apiserver/encoding/media-type.ts';
import type { ApiContext, RequestState } from '#lib/apiserver/http/api-context.ts';
import { isTrue, parseCount, parseQuery, percentDecode } from '#lib/apiserver/http/query-values.ts';
import { parseRequestInfo, readSelectors } from '#lib/apiserver/http/request-info.ts';
import {
  canConsume,
  canProduce,
  isPrettyRequested,
  serveContent,
} from '#lib/apiserver/http/write-response.ts';
import { acceptsGzip } from '#lib/apiserver/middleware/deliver-response.ts';
import { statusErrors } from '#lib/apiserver/middleware/status-errors.ts';
import { parseIncludeObject } from '#lib/apiserver/resources/conversions.ts';
import { parseListOptions } from '#lib/apiserver/resources/list-options.ts';
import { parseContinueToken } from '#lib/apiserver/resources/list-page.ts';
import { readAdmissionReview } from '#lib/scaled-objects/validation/admission-review.ts';
import { parseDurationMs } from '#lib/time/duration.ts';
import { filterForm } from '#lib/ui/object-list.ts';
import { isListed, pageAddress, readPageQuery } from '#lib/ui/page-query.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { distinct, type ForeignReader, nested, repeated } from './foreign-reader.ts';

const URL = { length: 128 * 1024, by: 'MAX_URL_BYTES' };
const PATH = { length: 8 * 1024, by: 'MAX_PATH_BYTES' };
const HEADER = { length: 8 * 1024, by: 'MAX_ACCEPT_BYTES' };
/** All headers together; only those that identify a user may be long. */
const HEADERS = { length: 1024 * 1024, by: 'MAX_HEADER_BYTES' };
const SELECTOR = { length: 16 * 1024, by: 'MAX_SELECTOR_BYTES' };

const CONTENT = { mediaType: 'text/plain', body: Buffer.alloc(10), hash: 'a', modifiedAtMs: 0 };
const REVIEW =
  '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"a","operation":"CREATE","object":"';
const KOA = new Koa<RequestState>();

const query = (name: string, value: string) => new URLSearchParams([[name, value]]);
const signal = () => new AbortController().signal;
const authenticate = bearerTokenAuthenticator(async () => undefined);

/** Readers of requests, most of which accept unauthenticated ones. */
export const REQUEST_READERS: readonly ForeignReader[] = [
  {
    name: 'a review of a webhook',
    files: ['admission-review.ts'],
    bound: { length: 3 * 1024 * 1024, by: 'MAX_BYTES' },
    shapes: {
      'nothing but lists': nested('[', ']'),
      'empty objects': repeated('{},', { before: '[', behind: '{}]' }),
      'one long text': repeated('a', { before: REVIEW, behind: '"}}' }),
      escapes: repeated('\\u0041', { before: REVIEW, behind: '"}}' }),
      'white space': repeated(' ', { behind: '{}' }),
    },
    read: (text) => readAdmissionReview(Buffer.from(text)),
  },
  {
    name: 'Accept',
    files: ['media-type.ts', 'media-type.ts'],
    bound: HEADER,
    shapes: {
      'wildcards, then types': (length) => repeated('*/*,')(length / 2) + repeated('a/b,')(length / 2),
      'rising qualities': distinct((index) => `a/b;q=0.${index},`),
      'many parameters': distinct((index) => `;a${index}=b`, { before: 'application/json' }),
      'white space': repeated(' ', { before: 'application/json', behind: 'x' }),
      slashes: repeated('/'),
      'nothing but separators': repeated(',;='),
    },
    read: (text) => negotiate(text, NO_CONVERSION),
  },
  {
    name: 'Accept and Content-Type of a route',
    files: ['write-response.ts'],
    bound: HEADER,
    shapes: {
      clauses: repeated('a/b, '),
      parameters: repeated(';a=b'),
      spaces: repeated(' ', { behind: 'x' }),
    },
    read: (text) => [canProduce(text, ['application/json']), canConsume(text, ['application/json'])],
  },
  {
    name: 'Accept-Encoding',
    files: ['deliver-response.ts'],
    bound: HEADER,
    shapes: {
      clauses: repeated('gzip;q=0,'),
      parameters: repeated(';q=1', { before: 'gzip' }),
      'white space': repeated(' ', { before: 'gzip;q=', behind: 'x' }),
      zeros: repeated('0', { before: 'gzip;q=0.', behind: 'x' }),
    },
    read: acceptsGzip,
  },
  {
    name: 'If-None-Match, If-Modified-Since, Cache-Control and Range',
    files: [],
    bound: HEADER,
    shapes: {
      tags: repeated('"a",'),
      'weak tags': repeated('W/'),
      'white space': repeated(' ', { behind: 'x' }),
      commas: repeated(','),
      directives: repeated('no-cach,', { behind: 'no-cache' }),
      parentheses: repeated('(', { before: 'Sun, 22 Nov 2026 20:00:00 GMT' }),
      digits: repeated('1', { before: 'bytes=', behind: '-x' }),
      'digits on both sides': (length) => `bytes=${'1'.repeat(length / 2)}-${'1'.repeat(length / 2)}`,
      ranges: repeated('1-2,', { before: 'bytes=' }),
    },
    read: (text) => {
      for (const name of ['if-none-match', 'if-modified-since', 'cache-control', 'range']) {
        const headers = { 'if-none-match': '"b"', [name]: text };
        serveContent(contextWith(headers), CONTENT);
      }
    },
  },
  {
    name: 'User-Agent',
    files: [],
    bound: HEADER,
    shapes: { 'a long name': repeated('curl'), 'a long comment': repeated(' ', { before: 'Mozilla/5.' }) },
    read: (text) => isPrettyRequested(new URLSearchParams(), text),
  },
  {
    name: 'Accept of pages, which Koa reads',
    files: [],
    bound: HEADER,
    shapes: {
      clauses: repeated('a/b,'),
      'rising qualities': distinct((index) => `a/b;q=0.${index},`),
      parameters: repeated(';a=b', { before: 'text/html' }),
      quotes: repeated('"', { before: 'text/html;a=' }),
      'white space': repeated(' ', { before: 'text/html;q=', behind: 'x' }),
      slashes: repeated('/'),
    },
    read: (text) => contextWith({ accept: text }).accepts('json', 'text'),
  },
  {
    name: 'Audit-Id',
    files: [],
    bound: HEADERS,
    shapes: { 'a long one': repeated('a') },
    read: async (text) => {
      const context = contextWith({ 'audit-id': text });
      await statusErrors(new RecordingLogger())(context, async () => {});
    },
  },
  {
    name: 'Authorization',
    files: ['bearer-token.ts'],
    bound: HEADERS,
    shapes: {
      spaces: repeated(' ', { before: 'Bearer', behind: 'x' }),
      token: repeated('a', { before: 'Bearer ' }),
    },
    read: (text) => authenticate({ headers: { authorization: text }, signal } as never),
  },
  {
    name: 'what somebody wants to see of the page',
    files: ['page-query.ts'],
    bound: URL,
    shapes: {
      'white space': repeated('+', { before: 'filter=', behind: 'x' }),
      digits: repeated('1', { before: 'page=' }),
      hostile: repeated('%3C%22', { before: 'filter=' }),
      settings: repeated('view=a&'),
    },
    read: (text) => {
      const observed = readPageQuery(new URLSearchParams(text), ['hpas']);
      return [pageAddress(observed), `${filterForm(observed)}`, isListed(observed, 'namespace', 'name')];
    },
  },
  {
    name: "the front proxy's headers",
    files: ['front-proxy.ts'],
    bound: HEADERS,
    shapes: {
      groups: repeated('x-remote-group\ng\n'),
      extras: distinct((index) => `x-remote-extra-${index}\n\xe9\n`),
    },
    read: (text) => {
      const headers = new RequestHeaders(text.split('\n').slice(0, 2 * 10_000));
      const extras = [...headers.withPrefix(['x-remote-extra-'])];
      return [headers.first(['x-remote-user']), headers.all(['x-remote-group']), extras];
    },
  },
  {
    name: 'path',
    files: ['request-info.ts'],
    bound: PATH,
    shapes: {
      slashes: repeated('/', { before: '/a', behind: 'a' }),
      'slashes at the end': repeated('/', { before: '/apis' }),
      segments: repeated('a/', { before: '/apis/' }),
      dots: repeated('../', { before: '/apis/a/b/' }),
    },
    read: (text) => parseRequestInfo('GET', text, new URLSearchParams()),
  },
  {
    name: 'percent-encoding',
    files: ['query-values.ts'],
    bound: PATH,
    shapes: {
      encoded: repeated('%41'),
      'broken off': repeated('%', { behind: 'x' }),
      'no UTF-8': repeated('%ff'),
    },
    read: percentDecode,
  },
  {
    name: 'query',
    files: ['query-values.ts', 'conversions.ts'],
    bound: URL,
    shapes: {
      'one key': repeated('a=b&'),
      'many keys': distinct((index) => `a${index}=b&`),
      pluses: repeated('+', { before: 'a=' }),
      'nothing but separators': repeated('&=;'),
    },
    read: (text) => [isTrue(parseQuery(text).get('a')), parseIncludeObject(parseQuery(text))],
  },
  {
    name: 'limit, timeoutSeconds',
    files: [],
    bound: URL,
    shapes: { zeros: repeated('0'), 'zeros, then something else': repeated('0', { behind: 'x' }) },
    read: parseCount,
  },
  {
    name: 'list options',
    files: ['list-options.ts'],
    bound: URL,
    shapes: {
      'many parameters': distinct((index) => `labelSelector=a${index}&`),
      limits: repeated('limit=1&'),
    },
    read: (text) => parseListOptions(parseQuery(text)),
  },
  {
    name: 'label selector',
    files: ['request-info.ts', 'label-selector.ts'],
    bound: SELECTOR,
    shapes: {
      requirements: distinct((index) => `a${index}=b,`, { behind: 'z' }),
      values: distinct((index) => `v${index},`, { before: 'a in (', behind: 'z)' }),
      'open parentheses': repeated('a in (', { behind: ')' }),
      'white space': repeated(' ', { before: 'a', behind: '=b' }),
      'a long key': repeated('a.', { behind: 'a/b' }),
      dashes: repeated('-', { before: 'a', behind: 'b' }),
      exclamations: repeated('!'),
    },
    read: (text) => readSelectors(query('labelSelector', text)),
  },
  {
    name: 'field selector',
    files: ['field-selector.ts'],
    bound: SELECTOR,
    shapes: {
      requirements: repeated('metadata.name=a,', { behind: 'metadata.name=a' }),
      escapes: repeated('\\,', { before: 'metadata.name=' }),
      'equal signs': repeated('=', { before: 'a' }),
      exclamations: repeated('!', { before: 'a' }),
    },
    read: (text) => readSelectors(query('fieldSelector', text)),
  },
  {
    name: 'continue token',
    files: ['list-page.ts'],
    bound: URL,
    shapes: {
      'no base64': repeated('!'),
      slashes: (length) =>
        base64(repeated('/', { before: '{"v":"meta.k8s.io/v1","start":"', behind: '"}' })(length)),
      nesting: (length) => base64(nested('[', ']')(length)),
    },
    read: parseContinueToken,
  },
  {
    name: 'duration',
    files: ['duration.ts'],
    bound: URL,
    shapes: {
      parts: repeated('1h'),
      'parts, then something else': repeated('1h', { behind: 'x' }),
      digits: repeated('1'),
      'digits and a unit': repeated('1', { behind: 's' }),
      points: repeated('.', { before: '1' }),
    },
    read: parseDurationMs,
  },
];

function contextWith(headers: IncomingHttpHeaders): ApiContext {
  const request = { headers, method: 'GET', url: '/', socket: {} } as IncomingMessage;
  return KOA.createContext(request, new ServerResponse(request)) as unknown as ApiContext;
}

function base64(text: string): string {
  return Buffer.from(text.slice(0, Math.ceil((text.length * 3) / 4)))
    .toString('base64url')
    .padEnd(text.length, 'A');
}
