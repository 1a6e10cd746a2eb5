import { isArray, isObject, type Json, readBoundedJson } from '../json/read-json.ts';
import { shorten } from '../query.ts';
import { measuredAt, parseDecimal, type Sample } from '../sample.ts';

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
