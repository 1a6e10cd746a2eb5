import { X509Certificate } from 'node:crypto';
import { bearerTokenAuthenticator } from '#lib/apiserver/access/bearer-token.ts';
import { constraintsOf } from '#lib/apiserver/access/certificate-chain.ts';
import { RequestHeaders } from '#lib/apiserver/access/front-proxy.ts';
import { parseAccept } from '#lib/apiserver/encoding/media-type.ts';
import { canConsume, serveContent } from '#lib/apiserver/http/write-response.ts';
import { acceptsGzip } from '#lib/apiserver/middleware/deliver-response.ts';
import { apiErrorOf } from '#lib/kubernetes/client/api-error.ts';
import {
  BASIC_CONSTRAINTS,
  certificateWith,
  DER_TAGS,
  der,
  EXTENDED_KEY_USAGE,
} from '#spec/support/hostile-certificates.ts';
import { type FuzzTarget, never } from './fuzz-target.ts';

const { identifier, integer, sequence } = DER_TAGS;

const CERTIFICATES = [
  certificateWith([]),
  certificateWith([
    [EXTENDED_KEY_USAGE, der(sequence, der(identifier, Buffer.from('2b06010505070302', 'hex')))],
    [BASIC_CONSTRAINTS, der(sequence, der(integer, Buffer.from([3])))],
  ]),
];

/** The lookup of the token's user is not under test. */
const authenticate = bearerTokenAuthenticator(async () => undefined);

/** Readers of headers of requests and responses, and of client certificates. */
export const HEADER_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'Accept header',
    bound: 8 * 1024,
    seeds: [
      'application/vnd.kubernetes.protobuf;q=0.9,application/json;as=Table;g=meta.k8s.io;v=v1,*/*;q=0.1',
      'application/yaml, text/html;q=0.5',
    ],
    read: parseAccept,
    isRefusal: never,
  },
  {
    name: 'Accept-Encoding header',
    bound: 8 * 1024,
    seeds: ['gzip;q=0.5, deflate', 'br, gzip ; q = 0.0', '*;q=1'],
    read: acceptsGzip,
    isRefusal: never,
  },
  {
    name: 'Content-Type header',
    bound: 8 * 1024,
    seeds: ['application/json;charset=utf-8', 'application/apply-patch+yaml'],
    read: (text) => canConsume(text, ['application/json']),
    isRefusal: never,
  },
  {
    name: 'Range header',
    bound: 8 * 1024,
    seeds: ['bytes=0-99', 'bytes=-5', 'bytes=7-,9-10'],
    read: (text) => {
      const context = { get: () => text, set: () => {}, remove: () => {} };
      const content = { mediaType: 'text/plain', body: Buffer.from('ab'), hash: 'x', modifiedAtMs: 0 };
      serveContent(context as never, content);
    },
    isRefusal: never,
  },
  {
    name: 'Authorization header',
    seeds: ['Bearer abc.def.ghi', '  bearer  x y', 'Basic YTpi'],
    read: (text) =>
      void Promise.resolve(authenticate({ headers: { authorization: text } } as never)).catch(() => {}),
    isRefusal: never,
  },
  {
    name: "front proxy's headers",
    seeds: [
      'X-Remote-User\nalice\nX-Remote-Group\na\nX-Remote-Group\nb\nX-Remote-Extra-Scopes%2fa\n\xc3\xa9',
    ],
    read: (text) => {
      const headers = new RequestHeaders(text.split('\n'));
      return [
        headers.first(['x-remote-user']),
        headers.all(['X-Remote-Group']),
        ...headers.withPrefix(['x-remote-']),
      ];
    },
    isRefusal: never,
  },
  {
    name: 'Retry-After header and Status',
    seeds: ['30', '{"kind":"Status","message":"a","details":{"retryAfterSeconds":3}}'],
    read: (text) => apiErrorOf('Cannot list', { statusCode: 429, body: text, retryAfter: text }),
    isRefusal: never,
  },
  {
    name: "client's certificate",
    bound: 16 * 1024,
    seeds: CERTIFICATES.map((certificate) => certificate.toString('latin1')),
    // OpenSSL reads it first, in the handshake.
    read: (text) => constraintsOf(new X509Certificate(Buffer.from(text, 'latin1'))),
    isRefusal: (error) =>
      error instanceof Error && !(error instanceof RangeError || error instanceof TypeError),
  },
];
