import type { HttpClient } from '../http/http-client.ts';
import { shorten } from '../http/shorten.ts';
import type { Query } from '../query.ts';
import type { JsonExtract } from './json-extract.ts';

/** What is asked, and what of the response counts. */
export interface JsonEndpoint {
  readonly http: HttpClient;
  readonly url: URL;
  readonly extract: JsonExtract;
  /** By default only the signal bounds the request. */
  readonly timeoutMs?: number;
}

/** A number in the JSON of a URL. */
export function jsonQuery({ http, url, extract, timeoutMs }: JsonEndpoint): Query {
  return {
    key: JSON.stringify(['json', url.href, http.credentialName, extract.key, timeoutMs]),
    description: `${shorten(extract.text)} in ${url.pathname} of ${url.host}`,
    source: url.host,
    async ask(signal) {
      const body = await http.read({ url, ...(timeoutMs === undefined ? {} : { timeoutMs }) }, signal);
      try {
        return [{ value: extract.numberIn(body), labels: {} }];
      } catch (cause) {
        throw new Error(`Cannot use what ${url.host} responds`, { cause });
      }
    },
  };
}
