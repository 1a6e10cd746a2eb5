import type { HttpClient } from '../http/http-client.ts';
import { evaluate, valuesAt } from '../jsonpath/evaluate.ts';
import { parseExpression, parseJsonPath } from '../jsonpath/parse-expression.ts';
import { type Query, shorten } from '../query.ts';
import { isArray, type Json, readBoundedJson, typeName } from '../read-json.ts';
import { AGGREGATORS, type AggregatorName } from '../sample.ts';

/** What is asked, and what of the response counts. */
interface JsonEndpoint {
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

/** What makes one number of a JSON document. */
export interface JsonExtract {
  /** Tells it from others. */
  readonly key: string;
  /** The path or expression, for people. */
  readonly text: string;
  /** @throws an Error that says why there is no number */
  numberIn(body: Uint8Array): number;
}

/** How: by a path, or by an expression. */
interface JsonExtractOptions {
  readonly form: 'path' | 'expression';
  readonly text: string;
  /** Needed where there are several numbers. */
  readonly aggregator?: AggregatorName | undefined;
}

/** @throws an Error that says what is wrong with the path or expression, as in `must have "$" at character 1` */
export function jsonExtract({ form, text, aggregator }: JsonExtractOptions): JsonExtract {
  const valuesIn = form === 'path' ? byPath(text) : byExpression(text);
  return {
    key: JSON.stringify([form, text, aggregator]),
    text: aggregator === undefined ? text : `${aggregator} of ${text}`,
    numberIn: (body) => single(valuesIn(readBoundedJson(body)), aggregator),
  };
}

function byPath(text: string): (document: Json) => readonly Json[] {
  const path = parseJsonPath(text);
  return (document) => valuesAt(path, document);
}

function byExpression(text: string): (document: Json) => readonly Json[] {
  const expression = parseExpression(text);
  return (document) => [evaluate(expression, document)];
}

function single(values: readonly Json[], aggregator: AggregatorName | undefined): number {
  const [first, ...others] = values;
  if (first === undefined) throw new Error('the response has no such value');
  if (others.length === 0 && !isArray(first)) return finite(numberOf(first));
  const several = others.length === 0 && isArray(first) ? first : values;
  if (!aggregator) throw new Error('there are several values, and no aggregator');
  if (several.length === 0) throw new Error('the array is empty');
  return finite(AGGREGATORS[aggregator](several.map(numberOf)));
}

function numberOf(value: Json): number {
  if (typeof value === 'number') return finite(value);
  throw new Error(`the value is of type ${typeName(value)}, not a number`);
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new Error(`the value is ${value}, which is no number that can be served`);
}
