import { z } from 'zod';
import type { Sample } from '../query.ts';

/** A sample as Prometheus writes it: seconds since the epoch, and a number as text. */
const point = z.tuple([z.number(), z.string().max(64)]);

const querySchema = z.object({
  status: z.literal('success'),
  data: z.discriminatedUnion('resultType', [
    z.object({
      resultType: z.literal('vector'),
      result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: point.optional() })),
    }),
    z.object({ resultType: z.literal('scalar'), result: point }),
    z.object({ resultType: z.enum(['matrix', 'string']) }),
  ]),
});

const errorSchema = z.object({ status: z.literal('error'), error: z.string() });

const MAX_ERROR_LENGTH = 300;

/**
 * The samples in the response to an instant query, as numbers that count.
 *
 * @throws an Error that says why there is no result: an empty one, NaN and infinities are none
 */
export function readQueryResponse(body: Buffer): readonly Sample[] {
  const parsed = querySchema.safeParse(parseJson(body));
  if (!parsed.success) throw new Error('the response is not one of the Prometheus HTTP API');
  const { data } = parsed.data;
  if (data.resultType === 'scalar') return [sampleOf(data.result, {})];
  if (data.resultType !== 'vector')
    throw new Error(`the query gives a ${data.resultType}, not a vector or scalar`);
  if (data.result.length === 0) throw new Error('the query has no result');
  return data.result.map(({ metric, value }) => {
    if (!value) throw new Error('the query gives a histogram, not a number');
    return sampleOf(value, metric);
  });
}

/** What Prometheus says is wrong with a query, cut to what fits into a line; `undefined` where it does not say. */
export function readQueryError(body: Buffer): string | undefined {
  const parsed = errorSchema.safeParse(parseJson(body));
  return parsed.success ? parsed.data.error.slice(0, MAX_ERROR_LENGTH) : undefined;
}

function sampleOf(
  [seconds, text]: readonly [number, string],
  labels: Readonly<Record<string, string>>,
): Sample {
  const value = text === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(value)) throw new Error(`the query gives ${JSON.stringify(text)}, which is no result`);
  return { value, labels, takenAtMs: Math.round(seconds * 1000) };
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
