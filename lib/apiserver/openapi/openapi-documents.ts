import type { Content } from '#lib/apiserver/http/write-response.ts';
import type { ApiGroup, ServedResource } from '#lib/apiserver/resources/api-group.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type ApiDocument, apiDocuments } from './api-documents.ts';
import { DescriptionContents, type DescriptionFormat } from './description-contents.ts';
import { gnosticV2 } from './gnostic-v2.ts';
import { gnosticV3 } from './gnostic-v3.ts';
import { openApiV2 } from './openapi-v2.ts';
import { type ApiInfo, openApiV3 } from './openapi-v3.ts';

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
export function v3Address(name: string, hash: string): string {
  return `/openapi/v3/${name}?hash=${hash}`;
}
