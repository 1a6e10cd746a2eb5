import { goJson, type JsonObject } from '#lib/apiserver/encoding/json.ts';
import { type Content, contentHash } from '#lib/apiserver/http/write-response.ts';

/** What a description of the API can be had in. */
export type DescriptionFormat = 'json' | 'protobuf';

/** A description of the API, in no format yet. */
export interface Description {
  readonly name: string;
  make(): JsonObject;
  /** As `application/com.github.proto-openapi.spec.…`; there is none for descriptions that are only had in JSON. */
  readonly protobuf?: { readonly mediaType: string; encode(document: JsonObject): Buffer };
}

/** Keeps what descriptions were encoded to; all formats of one have the hash of its JSON. */
export class DescriptionContents {
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
