import { goJson, type JsonObject } from '#lib/apiserver/encoding/json.ts';
import { parseAccept } from '#lib/apiserver/encoding/media-type.ts';
import type { ApiContext, Endpoint } from '#lib/apiserver/http/api-context.ts';
import { type Content, contentHash, serveContent } from '#lib/apiserver/http/write-response.ts';
import type { ApiGroup, ServedResource } from '#lib/apiserver/resources/api-group.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type ApiDocument, apiDocuments } from './api-documents.ts';
import { gnosticV2 } from './gnostic-v2.ts';
import { gnosticV3 } from './gnostic-v3.ts';
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

/** What a description of the API can be had in. */
type DescriptionFormat = 'json' | 'protobuf';

/** A description of the API, in no format yet. */
interface Description {
  readonly name: string;
  make(): JsonObject;
  /** As `application/com.github.proto-openapi.spec.…`; there is none for descriptions that are only had in JSON. */
  readonly protobuf?: { readonly mediaType: string; encode(document: JsonObject): Buffer };
}

/** Keeps what descriptions were encoded to; all formats of one have the hash of its JSON. */
class DescriptionContents {
  readonly #madeAtMs: number;
  readonly #contents = new Map<string, Content>();

  constructor(madeAtMs: number) {
    this.#madeAtMs = madeAtMs;
  }

  json(description: Description): Content {
    return this.#keep(`json ${description.name}`, () => {
      const body = Buffer.from(goJson(description.make()));
      return { mediaType: 'application/json', body, hash: contentHash(body), modifiedAtMs: this.#madeAtMs };
    });
  }

  /** @returns JSON where there is no protobuf */
  protobuf(description: Description): Content {
    const { protobuf } = description;
    if (!protobuf) return this.json(description);
    const { mediaType } = protobuf;
    return this.#keep(`protobuf ${description.name}`, () => {
      const body = protobuf.encode(description.make());
      return { ...this.json(description), mediaType, body };
    });
  }

  #keep(key: string, make: () => Content): Content {
    const content = this.#contents.get(key) ?? make();
    this.#contents.set(key, content);
    return content;
  }
}

/** What the documents describe. */
export interface DescribedApi {
  readonly groups: readonly ApiGroup[];
  readonly info: ApiInfo;
  readonly clock: Clock;
}

/** One state of everything that is described. */
interface Edition {
  /** What was served when it was made. */
  readonly resources: readonly (readonly ServedResource[])[];
  readonly documents: readonly ApiDocument[];
  readonly contents: DescriptionContents;
}

const V2_PROTOBUF = {
  mediaType: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  encode: gnosticV2,
};
const V3_PROTOBUF = {
  mediaType: 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf',
  encode: gnosticV3,
};

/** The API's description, made when it is first asked for and again when what is served has changed. */
export class OpenApiDocuments {
  readonly #api: DescribedApi;
  #edition: Edition | undefined;

  constructor(api: DescribedApi) {
    this.#api = api;
  }

  /** Everything in OpenAPI 2. */
  v2(format: DescriptionFormat = 'json'): Content {
    const { documents, contents } = this.#current();
    const make = () => openApiV2(documents, this.#api.info);
    return contents[format]({ name: 'v2', make, protobuf: V2_PROTOBUF });
  }

  /** @returns `undefined` when there is no such document */
  v3(name: string, format: DescriptionFormat = 'json'): Content | undefined {
    const { documents, contents } = this.#current();
    const document = documents.find((one) => one.name === name);
    if (!document) return undefined;
    const make = () => openApiV3(document, this.#api.info);
    return contents[format]({ name: `v3/${name}`, make, protobuf: V3_PROTOBUF });
  }

  /** Where the documents in OpenAPI 3 are; the addresses hold their hashes. */
  v3Index(): Content {
    const { documents, contents } = this.#current();
    const entryOf = ({ name }: ApiDocument) => [
      name,
      { serverRelativeURL: v3Address(name, this.v3(name)?.hash ?? '') },
    ];
    return contents.json({ name: 'v3', make: () => ({ paths: Object.fromEntries(documents.map(entryOf)) }) });
  }

  #current(): Edition {
    const resources = this.#api.groups.flatMap(({ versions }) =>
      versions.map((version) => version.resources()),
    );
    const held = this.#edition;
    if (held && resources.every((one, index) => one === held.resources[index])) return held;
    const edition: Edition = {
      resources,
      documents: apiDocuments(this.#api.groups),
      contents: new DescriptionContents(this.#api.clock.nowMs()),
    };
    this.#edition = edition;
    return edition;
  }
}

/** The path of a document in OpenAPI 3, by which a client that has it need not ask again. */
function v3Address(name: string, hash: string): string {
  return `/openapi/v3/${name}?hash=${hash}`;
}
