/** How many scrapes have taken no longer than so many seconds, over all nodes. */
export type Buckets = ReadonlyMap<number, number>;

const BUCKET = /^metrics_server_kubelet_request_duration_seconds_bucket\{([^}]*)\} (\d+)/gm;

/** The durations of scrapes that an exposition tells of. */
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
 * Within which bound a share of the scrapes lay that ended between two expositions, in seconds.
 *
 * @returns `undefined` where none did
 */
export function quantileOfBuckets(before: Buckets, after: Buckets, share: number): number | undefined {
  const bounds = [...after.keys()].sort((a, b) => a - b);
  const since = (bound: number) => (after.get(bound) ?? 0) - (before.get(bound) ?? 0);
  const all = since(bounds.at(-1) ?? 0);
  return all > 0 ? bounds.find((bound) => since(bound) >= share * all) : undefined;
}
