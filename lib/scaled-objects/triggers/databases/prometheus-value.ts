import { z } from 'zod';
import { readBoundedJson } from '#lib/sources/read-json.ts';
import { decimalNumber, EmptyResponse } from '#lib/sources/sample.ts';

const SCHEMA = z.object({
  data: z.object({
    resultType: z.string().optional(),
    result: z.array(z.object({ value: z.array(z.unknown()).nullish() })),
  }),
});

/** How a response is taken. */
export interface PrometheusValueOptions {
  /** For errors. */
  readonly query: string;
  /** Whether no result is 0. */
  readonly isEmptyZero: boolean;
}

/** One series is a few; a schema makes a list of all that is wrong. */
const MAX_VALUES = 40_000;
const LOST = "prometheus metrics 'prometheus' target may be lost, ";

/**
 * The one number in the response to an instant query; `undefined` for none that is to be taken as 0.
 *
 * @throws {EmptyResponse} for none otherwise; an Error where there is more than one series, or what is no number
 */
export function readPrometheusValue(
  body: Buffer,
  { query, isEmptyZero }: PrometheusValueOptions,
): number | undefined {
  const { result } = parseResponse(body).data;
  const empty = (what: string) => {
    if (isEmptyZero) return undefined;
    throw new EmptyResponse(LOST + what);
  };
  if (result.length === 0) return empty('the result is empty');
  if (result.length > 1) throw new Error(`prometheus query ${query} returned multiple elements`);
  const { value } = result[0] ?? {};
  if (!value || value.length === 0) return empty('the value list is empty');
  if (value.length < 2) throw new Error(`prometheus query ${query} didn't return enough values`);
  const [, sample] = value;
  if (sample === null) return 0; // there is one, but it says nothing
  const number = typeof sample === 'string' ? decimalNumber(sample) : undefined;
  if (number !== undefined) return number;
  if (sample === 'NaN' || sample === '+Inf' || sample === '-Inf') return empty(`the result is ${sample}`);
  throw new Error(`prometheus query ${query} returned no number`);
}

function parseResponse(body: Buffer): z.output<typeof SCHEMA> {
  const read = SCHEMA.safeParse(readBoundedJson(body, MAX_VALUES));
  if (!read.success)
    throw new Error(
      'the response of Prometheus is no vector of an instant query; use vector() or an aggregate',
    );
  return read.data;
}
