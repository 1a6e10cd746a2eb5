import { extractResult, type HttpClient } from '../http/http-client.ts';
import { type Query, shorten } from '../query.ts';
import { AGGREGATORS, type AggregatorName } from '../sample.ts';
import { evaluate, findValues } from './evaluate-jsonpath.ts';
import { parseExpression, parseJsonPath } from './parse-jsonpath.ts';
import { isArray, type Json, readBoundedJson, typeName } from './read-json.ts';

interface JsonEndpoint {
  readonly http: HttpClient;
  readonly url: URL;
  readonly extract: JsonExtract;
  /** By default only the signal bounds the request. */
  readonly timeoutMs?: number;
}

/** Creates a query for a number in the JSON of a URL. */
export function jsonQuery({ http, url, extract, timeoutMs }: JsonEndpoint): Query {
  return {
    key: JSON.stringify(['json', url.href, http.credentialName, extract.key, timeoutMs]),
    description: `${shorten(extract.text)} in ${url.pathname} of ${url.host}`,
    source: url.host,
    async run(signal) {
      const response = await http.exchange({ url, ...(timeoutMs !== undefined && { timeoutMs }) }, signal);
      const value = extractResult(response, { url, parse: (body) => extract.readNumber(body) });
      return [{ value, labels: {} }];
    },
  };
}

/** Extracts a number from a JSON document. */
export interface JsonExtract {
  /** Identifies it. */
  readonly key: string;
  /** The path or expression for messages. */
  readonly text: string;
  /** @throws an Error if there is no number */
  readNumber(body: Uint8Array): number;
}

interface JsonExtractOptions {
  readonly form: 'path' | 'expression';
  readonly text: string;
  /** Required if there are several numbers. */
  readonly aggregator?: AggregatorName | undefined;
}

/** @throws an Error with the violated rule, such as `must have "$" at character 1` */
export function jsonExtract({ form, text, aggregator }: JsonExtractOptions): JsonExtract {
  const valuesIn = form === 'path' ? compilePath(text) : compileExpression(text);
  return {
    key: JSON.stringify([form, text, aggregator]),
    text: aggregator === undefined ? text : `${aggregator} of ${text}`,
    readNumber: (body) => aggregate(valuesIn(readBoundedJson(body)), aggregator),
  };
}

function compilePath(text: string): (document: Json) => readonly Json[] {
  const path = parseJsonPath(text);
  return (document) => findValues(path, document);
}

function compileExpression(text: string): (document: Json) => readonly Json[] {
  const expression = parseExpression(text);
  return (document) => [evaluate(expression, document)];
}

function aggregate(values: readonly Json[], aggregator: AggregatorName | undefined): number {
  const [first, ...others] = values;
  if (first === undefined) throw new Error('the response has no value at the path');
  if (others.length === 0 && !isArray(first)) return checkFinite(toNumber(first));
  const several = others.length === 0 && isArray(first) ? first : values;
  if (!aggregator) throw new Error('there are several values: set an aggregator, avg, min, max or sum');
  if (several.length === 0) throw new Error('the array is empty');
  return checkFinite(AGGREGATORS[aggregator](several.map(toNumber)));
}

function toNumber(value: Json): number {
  if (typeof value === 'number') return checkFinite(value);
  throw new Error(`the value is of type ${typeName(value)}, not a number`);
}

function checkFinite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new Error(`the value is ${value}, not a finite number`);
}
