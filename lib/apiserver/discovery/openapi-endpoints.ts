import { goJson, type JsonObject } from '#lib/apiserver/encoding/json.ts';
import { parseAccept } from '#lib/apiserver/encoding/media-type.ts';
import type { ApiContext, Endpoint } from '#lib/apiserver/http/api-context.ts';
import { type Content, contentHash, serveContent } from '#lib/apiserver/http/write-response.ts';
import type { ApiGroup, ServedResource } from '#lib/apiserver/resources/api-group.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type ApiDocument, apiDocuments } from './api-documents.ts';
import { openApiV2 } from './openapi-v2.ts';
import { type ApiInfo, openApiV3 } from './openapi-v3.ts';

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
    if (!acceptsJson(context)) return refuse(context);
    context.state.gzipFromBytes = GZIP_FROM_BYTES;
    serveContent(context, documents.v2());
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
    const content = documents.v3(name);
    if (!content) return respondEmpty(context, 200);
    context.vary('Accept');
    if (!acceptsJson(context)) return refuse(context);
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

/** Whether any clause of the Accept header names JSON, or has a wildcard that includes it. */
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

/** What the documents describe. */
export interface DescribedApi {
  readonly groups: readonly ApiGroup[];
  readonly info: ApiInfo;
  readonly clock: Clock;
}

/** The API's description, made when it is first requested and again when what is served has changed. */
export class OpenApiDocuments {
  readonly #api: DescribedApi;
  #edition: Edition | undefined;

  constructor(api: DescribedApi) {
    this.#api = api;
  }

  /** Everything in OpenAPI 2. */
  v2(): Content {
    const edition = this.#current();
    return edition.content('v2', () => openApiV2(edition.documents, this.#api.info));
  }

  /** @returns `undefined` when there is no such document */
  v3(name: string): Content | undefined {
    const edition = this.#current();
    const document = edition.documents.find((one) => one.name === name);
    return document && edition.content(`v3/${name}`, () => openApiV3(document, this.#api.info));
  }

  /** Where the documents in OpenAPI 3 are; the addresses have their hashes. */
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

/** One state of what is described, with the JSON that was made of it. */
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

/** The path of a document in OpenAPI 3, by which a client that has it need not ask again. */
function v3Address(name: string, hash: string): string {
  return `/openapi/v3/${name}?hash=${hash}`;
}
