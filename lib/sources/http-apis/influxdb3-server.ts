import { getOwn } from '#lib/kubernetes/get-own.ts';
import { extractResult } from '../http/http-client.ts';
import type { HttpRequester } from '../http/observed-requester.ts';
import { pathBelow } from '../http/source-url.ts';
import { isObject, readBoundedJson } from '../json/read-json.ts';
import { type Query, shorten } from '../query.ts';

interface Influxdb3Options {
  /** Its credentials are a token. */
  readonly http: HttpRequester;
  readonly url: URL;
  readonly database: string;
  readonly language: 'influxql' | 'sql';
  readonly text: string;
  /** The column with the number. */
  readonly column: string;
}

/** Creates a query of InfluxDB 3 for the number in a column of the last row; 0 if there is no row. */
export function influxdb3Value({ http, url, database, language, text, column }: Influxdb3Options): Query {
  const endpoint = pathBelow(url, `/api/v3/query_${language}`);
  return {
    key: JSON.stringify(['influxdb3', endpoint.href, http.credentialName, database, text, column]),
    description: `${shorten(text)} of InfluxDB at ${endpoint.host}`,
    source: endpoint.host,
    async run(signal) {
      const headers = { accept: 'application/jsonl', 'content-type': 'application/json' };
      const body = JSON.stringify({ db: database, q: text, format: 'jsonl' });
      const response = await http.exchange({ url: endpoint, method: 'POST', headers, body }, signal);
      const value = extractResult(response, {
        ...{ url: endpoint, system: 'InfluxDB', findReason: (reason) => reason.toString('utf8') },
        parse: (rows) => readLastRow(rows, column),
      });
      return [{ value, labels: {} }];
    },
  };
}

/** Reads a column of the last row of JSON lines. @throws an Error if it is not a number */
export function readLastRow(body: Buffer, column: string): number {
  let end = body.length;
  while (end > 0 && isBlank(body[end - 1])) end--;
  if (end === 0) return 0;
  const row = readBoundedJson(body.subarray(body.lastIndexOf('\n', end - 1) + 1, end));
  if (!isObject(row)) throw new Error('the response is not a valid response of InfluxDB 3');
  const value = getOwn(row, column);
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  const type = value === null ? 'null' : typeof value;
  throw new Error(
    `column ${JSON.stringify(column)}: value of type ${type} could not be converted into a float`,
  );
}

function isBlank(byte: number | undefined): boolean {
  return byte === 10 || byte === 13 || byte === 32;
}
