/** A histogram as Prometheus' text format has it: by upper bound, how many values were no greater. */
export type CumulativeBuckets = ReadonlyMap<number, number>;

/** Reads the buckets of a histogram without labels of its own. */
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

/** What has come since. */
export function bucketsSince(before: CumulativeBuckets, after: CumulativeBuckets): CumulativeBuckets {
  return new Map([...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)]));
}

/** The least bound that this share of the values does not exceed; `NaN` where there are none. */
export function boundOf(buckets: CumulativeBuckets, share: number): number {
  const all = Math.max(0, ...buckets.values());
  if (all === 0) return Number.NaN;
  for (const [bound, count] of [...buckets].sort(([one], [other]) => one - other))
    if (count >= all * share) return bound;
  return Number.POSITIVE_INFINITY;
}
