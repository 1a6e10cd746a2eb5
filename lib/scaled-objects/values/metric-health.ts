import type { MetricHealth, ScaledObjectStatus } from '../objects/scaled-object.ts';

/** What is known of how often metrics were asked for. */
export interface AskedMetric {
  readonly metricName: string;
  /** How often its source was asked, ever. */
  readonly askedCount: number;
  readonly isFailing: boolean;
}

/**
 * Counts failures in a row for one object; the counts live in its status, from which all replicas take them, and what is
 * remembered here is only which requests were counted already.
 */
export class HealthCounter {
  readonly #counted = new Map<string, number>();

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
    const health: Record<string, MetricHealth> = {};
    for (const { metricName, askedCount, isFailing } of metrics) {
      const { numberOfFailures = 0 } = before?.[metricName] ?? {};
      const counted = this.#counted.get(metricName) ?? 0;
      const asked = askedCount < counted ? askedCount : askedCount - counted; // a new collector begins at 0
      this.#counted.set(metricName, askedCount);
      if (isFailing)
        health[metricName] = {
          numberOfFailures: Math.min(
            numberOfFailures + Math.max(0, asked),
            Math.max(mostFailures, numberOfFailures),
          ),
          status: 'Failing',
        };
      else if (askedCount > 0) health[metricName] = { numberOfFailures: 0, status: 'Happy' };
      else if (before?.[metricName]) health[metricName] = before[metricName];
    }
    return health;
  }
}
