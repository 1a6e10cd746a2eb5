import { goJson, type JsonObject } from '#lib/apiserver/encoding/json.ts';
import { parseAccept } from '#lib/apiserver/encoding/media-type.ts';
import type { ApiContext, Endpoint } from '#lib/apiserver/http/api-context.ts';
import { type Content, contentHash, serveContent } from '#lib/apiserver/http/write-response.ts';
import type { ApiGroup, ServedResource } from '#lib/apiserver/resources/api-group.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type ApiDocument, apiDocuments } from './api-documents.ts';
import { openApiV2 } from './openapi-v2.ts';
import { type ApiInfo, openApiV3 } from './openapi-v3.ts';

/** Path of the documents in OpenAPI 3. */
export const OPENAPI_V3_ROOT = '/openapi/v3/';

const YEAR_MS = 365 * 24 * 3_600_000;
/** Compressing less saves nothing. */
const GZIP_FROM_BYTES = 1400;

export function openApiV2Endpoint(documents: OpenApiDocuments): Endpoint {
  return (context) => {
    context.vary('Accept-Encoding');
    context.vary('Accept');
    if (!acceptsJson(context)) return refuse(context);
    context.state.gzipFromBytes = GZIP_FROM_BYTES;
    serveContent(context, documents.v2());
  };
}

/** Serves the index of the documents in OpenAPI 3. */
export function openApiV3IndexEndpoint(documents: OpenApiDocuments): Endpoint {
  return (context) => serveContent(context, documents.v3Index());
}

/**
 * Serves the documents in OpenAPI 3. With the current hash in the URL, clients may cache them forever; a wrong hash is
 * redirected to the current one. The response to an unknown document is empty.
 */
export function openApiV3Endpoint(documents: OpenApiDocuments, clock: Clock): Endpoint {
  return (context) => {
    const name = context.state.info.path.slice(OPENAPI_V3_ROOT.length);
    const content = documents.v3(name);
    if (!content) return respondEmpty(context, 200);
    context.vary('Accept');
    if (!acceptsJson(context)) return refuse(context);
    const requested = context.state.query.get('hash');
    if (requested && requested !== content.hash) {
      context.set('Location', v3Address(name, content.hash));
      context.set('ETag', `"${content.hash}"`);
      respondEmpty(context, 301);
      context.set('Content-Type', content.mediaType); // of existing documents, as in the reference
      return;
    }
    if (requested) {
      context.set('Cache-Control', 'public, immutable');
      context.set('Expires', new Date(clock.nowMs() + YEAR_MS).toUTCString());
    }
    serveContent(context, content);
  };
}

/** Whether any clause of the Accept header is JSON, or a wildcard that includes it. */
function acceptsJson(context: ApiContext): boolean {
  return parseAccept(context.get('Accept') || '*/*').some(
    ({ type, subtype }) =>
      (type === 'application' || type === '*') && (subtype === 'json' || subtype === '*'),
  );
}

function refuse(context: ApiContext): void {
  respondEmpty(context, 406);
}

function respondEmpty(context: ApiContext, status: number): void {
  context.status = status;
  context.body = Buffer.alloc(0);
  context.remove('Content-Type');
}

export interface DescribedApi {
  readonly groups: readonly ApiGroup[];
  readonly info: ApiInfo;
  readonly clock: Clock;
}

/** The API's description, built on the first request and again when the served resources change. */
export class OpenApiDocuments {
  readonly #api: DescribedApi;
  #edition: Edition | undefined;

  constructor(api: DescribedApi) {
    this.#api = api;
  }

  v2(): Content {
    const edition = this.#current();
    return edition.content('v2', () => openApiV2(edition.documents, this.#api.info));
  }

  /** @returns `undefined` for an unknown document */
  v3(name: string): Content | undefined {
    const edition = this.#current();
    const document = edition.documents.find((one) => one.name === name);
    return document && edition.content(`v3/${name}`, () => openApiV3(document, this.#api.info));
  }

  /** The paths of the documents in OpenAPI 3, with their hashes. */
  v3Index(): Content {
    const edition = this.#current();
    const entryOf = ({ name }: ApiDocument) => [
      name,
      { serverRelativeURL: v3Address(name, this.v3(name)?.hash ?? '') },
    ];
    return edition.content('v3', () => ({ paths: Object.fromEntries(edition.documents.map(entryOf)) }));
  }

  #current(): Edition {
    const { groups, clock } = this.#api;
    const resources = groups.flatMap(({ versions }) => versions.map((version) => version.resources()));
    if (!this.#edition?.describes(resources)) this.#edition = new Edition(groups, resources, clock.nowMs());
    return this.#edition;
  }
}

/** One state of the described API, with the JSON built from it. */
class Edition {
  readonly documents: readonly ApiDocument[];
  readonly #resources: readonly (readonly ServedResource[])[];
  readonly #madeAtMs: number;
  readonly #contents = new Map<string, Content>();

  constructor(
    groups: readonly ApiGroup[],
    resources: readonly (readonly ServedResource[])[],
    madeAtMs: number,
  ) {
    this.documents = apiDocuments(groups);
    this.#resources = resources;
    this.#madeAtMs = madeAtMs;
  }

  describes(resources: readonly (readonly ServedResource[])[]): boolean {
    return resources.every((one, index) => one === this.#resources[index]);
  }

  content(name: string, make: () => JsonObject): Content {
    let content = this.#contents.get(name);
    if (!content) {
      const body = Buffer.from(goJson(make()));
      const hash = contentHash(body);
      content = { mediaType: 'application/json', body, hash, modifiedAtMs: this.#madeAtMs };
      this.#contents.set(name, content);
    }
    return content;
  }
}

/** The path of a document in OpenAPI 3; its hash lets a client skip documents that it has. */
function v3Address(name: string, hash: string): string {
  return `/openapi/v3/${name}?hash=${hash}`;
}
