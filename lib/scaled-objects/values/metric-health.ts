import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { MetricHealth, ScaledObjectStatus } from '../api/scaled-object.ts';

/** What is known of how often metrics were asked for. */
export interface AskedMetric {
  readonly metricName: string;
  /** How often its source was asked, ever. */
  readonly askedCount: number;
  /** How often it has failed since it last responded. */
  readonly failuresInARow: number;
}

/**
 * Counts failures in a row for one object; the counts live in its status, from which all replicas take them, and what is
 * remembered here is only which requests were counted already.
 */
export class HealthCounter {
  #counted: ReadonlyMap<string, number> = new Map();

  /**
   * The health of an object's metrics, of no others.
   *
   * @param mostFailures more are not counted: nothing changes beyond them
   */
  next(
    before: ScaledObjectStatus['health'],
    metrics: readonly AskedMetric[],
    mostFailures: number,
  ): Readonly<Record<string, MetricHealth>> {
    const health = new Map<string, MetricHealth>();
    const known = this.#counted;
    this.#counted = new Map(metrics.map(({ metricName, askedCount }) => [metricName, askedCount]));
    for (const { metricName, askedCount, failuresInARow } of metrics) {
      const previous = getOwn(before, metricName);
      const { numberOfFailures = 0 } = previous ?? {};
      const counted = known.get(metricName);
      if (failuresInARow > 0) {
        // A collector that was made again begins at 0.
        const asked = counted === undefined || askedCount < counted ? askedCount : askedCount - counted;
        const added = Math.min(asked, failuresInARow);
        // Of what failed before this term, its predecessor has counted some: nobody knows how many.
        const failures =
          counted === undefined ? Math.max(numberOfFailures + 1, failuresInARow) : numberOfFailures + added;
        const most = Math.max(mostFailures, numberOfFailures);
        health.set(metricName, { numberOfFailures: Math.min(failures, most), status: 'Failing' });
      } else if (askedCount > 0) health.set(metricName, { numberOfFailures: 0, status: 'Happy' });
      else if (previous) health.set(metricName, previous);
    }
    return Object.fromEntries(health);
  }
}
