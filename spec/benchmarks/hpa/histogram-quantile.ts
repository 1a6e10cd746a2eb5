/** A histogram in Prometheus' text format: number of values up to each upper bound. */
export type CumulativeBuckets = ReadonlyMap<number, number>;

/** Parses the buckets of a histogram without labels. */
export function bucketsOf(exposition: string, name: string): CumulativeBuckets {
  const buckets = new Map<number, number>();
  for (const line of exposition.split('\n')) {
    if (!line.startsWith(`${name}_bucket{`)) continue;
    const bound = line.slice(line.indexOf('le="') + 4).split('"', 1)[0] ?? '';
    buckets.set(
      bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound),
      Number(line.slice(line.lastIndexOf(' '))),
    );
  }
  return buckets;
}

/** Buckets of the values added between two readings. */
export function bucketsSince(before: CumulativeBuckets, after: CumulativeBuckets): CumulativeBuckets {
  return new Map([...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)]));
}

/** The lowest upper bound of at least this share of the values; `NaN` if there are none. */
export function boundOf(buckets: CumulativeBuckets, share: number): number {
  const all = Math.max(0, ...buckets.values());
  if (all === 0) return Number.NaN;
  for (const [bound, count] of [...buckets].sort(([one], [other]) => one - other))
    if (count >= all * share) return bound;
  return Number.POSITIVE_INFINITY;
}
