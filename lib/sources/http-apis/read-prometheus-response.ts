import { isArray, isObject, type Json, readBoundedJson } from '../json/read-json.ts';
import { shorten } from '../query.ts';
import { EmptyResponseError, measuredAt, parseDecimal, type Sample } from '../sample.ts';

/**
 * Parses the response to an instant query. Written by hand instead of with a schema, which would list all problems of
 * an invalid response.
 *
 * @throws an Error if there is no result, or it has NaN or an infinity
 */
export function readQueryResponse(body: Uint8Array): readonly Sample[] {
  const response = readBoundedJson(body);
  const data = isObject(response) && response.status === 'success' ? response.data : undefined;
  if (!isObject(data)) throw unexpectedFormat();
  const { resultType, result } = data;
  if (resultType === 'matrix' || resultType === 'string')
    throw new Error(`the query returned a ${resultType}, not a vector or scalar`);
  if (resultType === 'scalar') return [readSample(result, {})];
  if (resultType !== 'vector' || !isArray(result)) throw unexpectedFormat();
  if (result.length === 0) throw new Error('the query returned no result');
  return result.map((one) => {
    if (!isObject(one)) throw unexpectedFormat();
    const labels = readLabels(one.metric);
    if (one.value === undefined) throw new Error('the query returned a histogram, not a number');
    return readSample(one.value, labels);
  });
}

interface PrometheusValueOptions {
  /** For messages. */
  readonly query: string;
  /** Whether an empty result is 0 instead of an error. */
  readonly isEmptyZero: boolean;
}

const LOST = "prometheus metrics 'prometheus' target may be lost, ";

/**
 * Parses the only value in the response to an instant query, with the rules and messages of KEDA.
 *
 * @returns `undefined` for an empty result that counts as 0
 * @throws {EmptyResponseError} for an empty result otherwise; an Error for several series or a value that is not a number
 */
export function readPrometheusValue(
  body: Uint8Array,
  { query, isEmptyZero }: PrometheusValueOptions,
): number | undefined {
  const empty = (what: string) => {
    if (isEmptyZero) return undefined;
    throw new EmptyResponseError(LOST + what);
  };
  const [first, ...others] = readSeries(body);
  if (first === undefined) return empty('the result is empty');
  if (others.length > 0) throw new Error(`prometheus query ${query} returned multiple elements`);
  if (first.length === 0) return empty('the value list is empty');
  if (first.length < 2) throw new Error(`prometheus query ${query} didn't return enough values`);
  const [, sample] = first;
  if (sample === null) return 0; // as in KEDA
  const number = typeof sample === 'string' ? parseDecimal(sample) : undefined;
  if (number !== undefined) return number;
  if (sample === 'NaN' || sample === '+Inf' || sample === '-Inf') return empty(`the result is ${sample}`);
  throw new Error(`prometheus query ${query} returned no number`);
}

/** The point of each series of an instant vector; an empty one for a series without. */
function readSeries(body: Uint8Array): readonly (readonly Json[])[] {
  const response = readBoundedJson(body);
  const data = isObject(response) && isObject(response.data) ? response.data : {};
  const points = isArray(data.result) ? data.result.map(readPoint) : [undefined];
  if (points.every((point) => point !== undefined)) return points;
  throw new Error('the response is not an instant vector; use vector() or an aggregation');
}

function readPoint(series: Json): readonly Json[] | undefined {
  const point = isObject(series) ? (series.value ?? []) : undefined;
  return isArray(point) ? point : undefined;
}

/** Returns the complete error message of Prometheus; `undefined` if the response has none. */
export function readQueryError(body: Uint8Array): string | undefined {
  try {
    const response = readBoundedJson(body);
    const error = isObject(response) && response.status === 'error' ? response.error : undefined;
    return typeof error === 'string' ? error : undefined;
  } catch {
    return undefined;
  }
}

function readLabels(metric: Json | undefined): Readonly<Record<string, string>> {
  if (!isObject(metric)) throw unexpectedFormat();
  if (Object.values(metric).some((label) => typeof label !== 'string')) throw unexpectedFormat();
  return metric as Readonly<Record<string, string>>;
}

/** @param point seconds since the Unix epoch, and a number as a string */
function readSample(point: Json | undefined, labels: Readonly<Record<string, string>>): Sample {
  const [seconds, text, ...more] = isArray(point) ? point : [];
  if (typeof seconds !== 'number' || typeof text !== 'string' || more.length > 0) throw unexpectedFormat();
  const value = parseDecimal(text);
  if (value !== undefined) return { value, labels, ...measuredAt(seconds * 1000) };
  throw new Error(`the query returned ${JSON.stringify(shorten(text))}, not a finite number`);
}

function unexpectedFormat(): Error {
  return new Error('the response is not a valid response of the Prometheus HTTP API');
}
