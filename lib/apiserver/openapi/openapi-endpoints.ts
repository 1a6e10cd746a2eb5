import { parseAccept } from '#lib/apiserver/encoding/media-type.ts';
import type { ApiContext, Endpoint } from '#lib/apiserver/http/api-context.ts';
import { serveContent } from '#lib/apiserver/http/write-response.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { DescriptionFormat } from './description-contents.ts';
import { type OpenApiDocuments, v3Address } from './openapi-documents.ts';

/** The path below which the documents in OpenAPI 3 are. */
export const OPENAPI_V3_ROOT = '/openapi/v3/';

const YEAR_MS = 365 * 24 * 3_600_000;
/** What is smaller is not worth compressing. */
const GZIP_FROM_BYTES = 1400;

/** Serves everything in OpenAPI 2. */
export function openApiV2Endpoint(documents: OpenApiDocuments): Endpoint {
  return (context) => {
    context.vary('Accept-Encoding');
    context.vary('Accept');
    const format = formatTaken(context, 'v2');
    if (!format) return refuse(context);
    context.state.gzipFromBytes = GZIP_FROM_BYTES;
    serveContent(context, documents.v2(format));
  };
}

/** Serves the list of the documents in OpenAPI 3. */
export function openApiV3IndexEndpoint(documents: OpenApiDocuments): Endpoint {
  return (context) => serveContent(context, documents.v3Index());
}

/**
 * Serves the documents in OpenAPI 3. With the current hash in the address they may be kept for ever; with a wrong
 * one the client is led to the current one. To a document that there is not the response is empty.
 */
export function openApiV3Endpoint(documents: OpenApiDocuments, clock: Clock): Endpoint {
  return (context) => {
    const name = context.state.info.path.slice(OPENAPI_V3_ROOT.length);
    const format = formatTaken(context, 'v3');
    const content = documents.v3(name, format);
    if (!content) return respondEmpty(context, 200);
    context.vary('Accept');
    if (!format) return refuse(context);
    const asked = context.state.query.get('hash');
    if (asked && asked !== content.hash) {
      context.set('Location', v3Address(name, content.hash));
      context.set('ETag', `"${content.hash}"`);
      respondEmpty(context, 301);
      context.set('Content-Type', content.mediaType); // of what is there, as the reference says
      return;
    }
    if (asked) {
      context.set('Cache-Control', 'public, immutable');
      context.set('Expires', new Date(clock.nowMs() + YEAR_MS).toUTCString());
    }
    serveContent(context, content);
  };
}

/** The format of the first clause that fits one; the older spelling of protobuf's is understood, too. */
function formatTaken(context: ApiContext, version: 'v2' | 'v3'): DescriptionFormat | undefined {
  const protobuf = `com.github.proto-openapi.spec.${version}`;
  for (const { type, subtype } of parseAccept(context.get('Accept') || '*/*')) {
    if (type !== 'application' && type !== '*') continue;
    if (subtype === 'json' || subtype === '*') return 'json';
    if (subtype === `${protobuf}.v1.0+protobuf` || subtype === `${protobuf}@v1.0+protobuf`) return 'protobuf';
  }
  return undefined;
}

function refuse(context: ApiContext): void {
  respondEmpty(context, 406);
}

function respondEmpty(context: ApiContext, status: number): void {
  context.status = status;
  context.body = Buffer.alloc(0);
  context.remove('Content-Type');
}
