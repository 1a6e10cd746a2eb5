import { z } from 'zod';
import { pathSegment } from '#lib/kubernetes/path-segment.ts';
import { extractResult, type HttpClient } from '../http/http-client.ts';
import { pathBelow } from '../http/source-url.ts';
import { readJsonAs } from '../json/read-json.ts';
import type { Query } from '../query.ts';
import { AGGREGATORS, type Sample } from '../sample.ts';

/** One subscription, or all that match. */
export type NakadiSubscriptions =
  | { readonly id: string }
  | {
      readonly owningApplication: string;
      readonly eventTypes: readonly string[];
      readonly consumerGroup: string;
    };

/** The maximum lag of a partition in seconds, or the total number of unconsumed events. */
type NakadiMetric = 'consumer-lag-seconds' | 'unconsumed-events';

interface NakadiServerOptions {
  readonly http: HttpClient;
  readonly url: URL;
}

const MAX_PAGES = 20;
const MAX_SUBSCRIPTIONS = 100;

const PAGE = z.object({
  items: z.array(z.object({ id: z.string().min(1) })),
  _links: z.object({ next: z.object({ href: z.string() }).optional() }).optional(),
});
const COUNT = z.number().nonnegative();
const STATS = z.object({
  items: z.array(
    z.object({
      partitions: z.array(
        z.object({
          consumer_lag_seconds: COUNT.optional(),
          unconsumed_events: COUNT.optional(),
        }),
      ),
    }),
  ),
});

/** The event broker Nakadi. */
export class NakadiServer {
  readonly #options: NakadiServerOptions;

  constructor(options: NakadiServerOptions) {
    this.#options = options;
  }

  query(metric: NakadiMetric, subscriptions: NakadiSubscriptions): Query {
    const { http, url } = this.#options;
    const name = 'id' in subscriptions ? subscriptions.id : subscriptions.owningApplication;
    return {
      key: JSON.stringify(['nakadi', url.href, http.credentialName, metric, subscriptions]),
      description: `${metric} of ${name} of Nakadi at ${url.host}`,
      source: url.host,
      run: (signal) => this.#run(metric, { subscriptions, signal }),
    };
  }

  async #run(
    metric: NakadiMetric,
    { subscriptions, signal }: { readonly subscriptions: NakadiSubscriptions; readonly signal: AbortSignal },
  ): Promise<readonly Sample[]> {
    const ids = 'id' in subscriptions ? [subscriptions.id] : await this.#find(subscriptions, signal);
    const stats: z.output<typeof STATS>[] = [];
    for (const id of ids) {
      const url = pathBelow(this.#options.url, `/subscriptions/${pathSegment(id)}/stats`);
      url.searchParams.set('show_time_lag', 'true');
      stats.push(await this.#read(url, { schema: STATS, signal }));
    }
    const eventTypes = stats.flatMap(({ items }) => items);
    if (eventTypes.length === 0)
      throw new Error(`Nakadi at ${this.#options.url.host} returned no event type of the subscription`);
    const partitions = eventTypes.flatMap((eventType) => eventType.partitions);
    const numbers = partitions
      .map((one) => (metric === 'consumer-lag-seconds' ? one.consumer_lag_seconds : one.unconsumed_events))
      .filter((number) => number !== undefined);
    if (numbers.length === 0)
      throw new Error(`Nakadi at ${this.#options.url.host} returned no ${metric} of the subscription`);
    const { max, sum } = AGGREGATORS;
    return [{ value: metric === 'consumer-lag-seconds' ? max(numbers) : sum(numbers), labels: {} }];
  }

  async #find(
    { owningApplication, eventTypes, consumerGroup }: Exclude<NakadiSubscriptions, { readonly id: string }>,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { url } = this.#options;
    const first = pathBelow(url, '/subscriptions');
    first.searchParams.set('owning_application', owningApplication);
    for (const eventType of eventTypes) first.searchParams.append('event_type', eventType);
    first.searchParams.set('consumer_group', consumerGroup);
    const ids: string[] = [];
    let next: URL | undefined = first;
    for (let pages = 0; next && pages < MAX_PAGES; pages++) {
      const page: z.output<typeof PAGE> = await this.#read(next, { schema: PAGE, signal });
      ids.push(...page.items.map(({ id }) => id));
      if (ids.length > MAX_SUBSCRIPTIONS)
        throw new Error(`Nakadi at ${url.host} has more than ${MAX_SUBSCRIPTIONS} such subscriptions`);
      next = findNextPage(page._links?.next?.href, first);
    }
    return ids;
  }

  async #read<S extends z.ZodType>(
    url: URL,
    { schema, signal }: { readonly schema: S; readonly signal: AbortSignal },
  ): Promise<z.output<S>> {
    const system = 'Nakadi';
    return extractResult(await this.#options.http.exchange({ url }, signal), {
      ...{ url, system },
      parse: (body) => readJsonAs(schema, body, system),
    });
  }
}

/** Returns the URL of the next page. @throws if it is on another server, which must not receive the credentials */
function findNextPage(href: string | undefined, first: URL): URL | undefined {
  if (href === undefined || !URL.canParse(href, first.href)) return undefined;
  const next = new URL(href, first.href);
  if (next.origin !== first.origin)
    throw new Error(`Nakadi at ${first.host} links to another server for more subscriptions`);
  return next;
}
