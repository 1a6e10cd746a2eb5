import { z } from 'zod';
import { extractResult, type HttpClient } from '../http/http-client.ts';
import { pathBelow } from '../http/source-url.ts';
import { readJsonAs } from '../json/read-json.ts';
import type { Query } from '../query.ts';
import { measuredAt, type Sample } from '../sample.ts';

/** Aggregations of the data points in a period. */
export const ZMON_AGGREGATORS = ['avg', 'count', 'last', 'max', 'min', 'sum', 'diff'] as const;

export interface ZmonCheck {
  readonly checkId: number;
  /** Of a check with several values. */
  readonly key?: string | undefined;
  readonly tags: Readonly<Record<string, string>>;
  readonly durationMs: number;
  readonly aggregators: readonly (typeof ZMON_AGGREGATORS)[number][];
}

interface ZmonServerOptions {
  readonly http: HttpClient;
  readonly url: URL;
}

const MAX_POINTS = 10_000;

const RESPONSE = z.object({
  queries: z.array(
    z.object({ results: z.array(z.object({ values: z.array(z.tuple([z.number(), z.number()])) })) }),
  ),
});

/** A KairosDB with the data of ZMON checks. */
export class ZmonServer {
  readonly #options: ZmonServerOptions;
  readonly #endpoint: URL;

  constructor(options: ZmonServerOptions) {
    this.#options = options;
    this.#endpoint = pathBelow(options.url, '/api/v1/datapoints/query');
  }

  /** Creates a query for the last data point of a check; no sample if there is none. */
  query(check: ZmonCheck): Query {
    const { http } = this.#options;
    const { checkId, key, tags, durationMs, aggregators } = check;
    const sortedTags = Object.entries(tags).sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      key: JSON.stringify([
        ...['zmon', this.#endpoint.href, http.credentialName, checkId, key, sortedTags],
        ...[durationMs, aggregators],
      ]),
      description: `check ${checkId} of ZMON at ${this.#endpoint.host}`,
      source: this.#endpoint.host,
      run: (signal) => this.#run(check, signal),
    };
  }

  async #run(check: ZmonCheck, signal: AbortSignal): Promise<readonly Sample[]> {
    const response = await this.#options.http.exchange(
      {
        url: this.#endpoint,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-attribution': `kube-metrics-adapter/${check.checkId}`,
        },
        body: JSON.stringify(buildRequest(check)),
      },
      signal,
    );
    const { queries } = extractResult(response, {
      ...{ url: this.#endpoint, system: 'ZMON' },
      parse: (body) => readJsonAs(RESPONSE, body, 'KairosDB'),
    });
    const [atMs, value] = queries[0]?.results[0]?.values.at(-1) ?? [];
    if (atMs === undefined || value === undefined) return [];
    return [{ value, labels: {}, ...(atMs > 0 ? measuredAt(atMs) : {}) }];
  }
}

function buildRequest({ checkId, key, tags, durationMs, aggregators }: ZmonCheck): object {
  const sampling = relativeTime(durationMs);
  const allTags = key === undefined ? tags : { ...tags, key };
  return {
    start_relative: sampling,
    metrics: [
      {
        name: `zmon.check.${checkId}`,
        limit: MAX_POINTS,
        tags: Object.fromEntries(Object.entries(allTags).map(([name, value]) => [name, [value]])),
        group_by: key === undefined ? [] : [{ name: 'tag', tags: ['key'] }],
        aggregators: aggregators.map((name) => ({ name, sampling })),
      },
    ],
  };
}

/** A duration before now, in the form of KairosDB. */
interface RelativeTime {
  readonly value: number;
  readonly unit: string;
}

const DAY_MS = 86_400_000;
/** The longest first; years and months as in ZMON. */
const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['years', 365 * DAY_MS],
  ['months', 30 * DAY_MS],
  ['weeks', 7 * DAY_MS],
  ['days', DAY_MS],
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['seconds', 1_000],
  ['milliseconds', 1],
];

/** Converts a duration to the longest unit that fits, rounded. */
export function relativeTime(durationMs: number): RelativeTime {
  const [unit, ms] = UNITS.find(([, length]) => durationMs >= length) ?? ['milliseconds', 1];
  return { value: Math.round(durationMs / ms), unit };
}
