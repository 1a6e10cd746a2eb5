/** Number of scrapes by upper bound of their duration in seconds, cumulative, for all nodes. */
export type Buckets = ReadonlyMap<number, number>;

const BUCKET = /^metrics_server_kubelet_request_duration_seconds_bucket\{([^}]*)\} (\d+)/gm;

/** Parses the scrape durations in an exposition. */
export function bucketsIn(exposition: string): Buckets {
  const buckets = new Map<number, number>();
  for (const [, labels = '', count = ''] of exposition.matchAll(BUCKET)) {
    const bound = /le="([^"]+)"/.exec(labels)?.[1] ?? '+Inf';
    const seconds = bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound);
    buckets.set(seconds, (buckets.get(seconds) ?? 0) + Number(count));
  }
  return buckets;
}

/**
 * Upper bound, in seconds, of the quantile of scrapes that ended between two expositions.
 *
 * @returns `undefined` if none ended
 */
export function quantileOfBuckets(before: Buckets, after: Buckets, share: number): number | undefined {
  const bounds = [...after.keys()].sort((a, b) => a - b);
  const since = (bound: number) => (after.get(bound) ?? 0) - (before.get(bound) ?? 0);
  const all = since(bounds.at(-1) ?? 0);
  return all > 0 ? bounds.find((bound) => since(bound) >= share * all) : undefined;
}
