import * as z from 'zod';
import { extractResult } from '../http/http-client.ts';
import type { HttpRequester } from '../http/observed-requester.ts';
import { pathBelow } from '../http/source-url.ts';
import { readBoundedJson } from '../json/read-json.ts';
import { type Query, shorten } from '../query.ts';
import type { Sample } from '../sample.ts';
import { readFluxTables } from './read-flux-tables.ts';

interface InfluxdbServerOptions {
  /** Its credentials are a token: `Authorization: Token …`. */
  readonly http: HttpRequester;
  readonly url: URL;
  /** Name of the organization. */
  readonly org: string;
}

export interface FluxQueryOptions {
  /** The first existing one of these columns has the number; by default `_value`. */
  readonly valueColumns?: readonly string[];
}

const ERROR = z.object({ message: z.string() });
/** An error has a code and a message. */
const MAX_ERROR_VALUES = 100;

/** A server with the HTTP API of InfluxDB 2. */
export class InfluxdbServer {
  readonly #options: InfluxdbServerOptions;
  readonly #endpoint: URL;

  constructor(options: InfluxdbServerOptions) {
    this.#options = options;
    this.#endpoint = pathBelow(options.url, '/api/v2/query');
    this.#endpoint.searchParams.set('org', options.org);
  }

  /** Creates a Flux query; each row of its result has a number. */
  query(flux: string, { valueColumns = ['_value'] }: FluxQueryOptions = {}): Query {
    const { http } = this.#options;
    return {
      key: JSON.stringify(['influxdb', this.#endpoint.href, http.credentialName, flux, valueColumns]),
      description: `${shorten(flux)} of InfluxDB at ${this.#endpoint.host}`,
      source: this.#endpoint.host,
      run: (signal) => this.#run(flux, { valueColumns, signal }),
    };
  }

  async #run(
    flux: string,
    { valueColumns, signal }: { readonly valueColumns: readonly string[]; readonly signal: AbortSignal },
  ): Promise<readonly Sample[]> {
    const dialect = { header: true, delimiter: ',', annotations: ['datatype'] };
    const response = await this.#options.http.exchange(
      {
        url: this.#endpoint,
        method: 'POST',
        headers: { accept: 'application/csv', 'content-type': 'application/json' },
        body: JSON.stringify({ query: flux, type: 'flux', dialect }),
      },
      signal,
    );
    return extractResult(response, {
      ...{ url: this.#endpoint, system: 'InfluxDB', findReason: readError },
      parse: (body) => readFluxTables(body.toString('utf8'), valueColumns),
    });
  }
}

function readError(body: Uint8Array): string | undefined {
  try {
    return ERROR.parse(readBoundedJson(body, MAX_ERROR_VALUES)).message;
  } catch {
    return undefined;
  }
}
