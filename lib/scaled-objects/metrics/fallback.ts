import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { Fallback, MetricHealth, ScaledObjectStatus } from '../api/scaled-object.ts';
import { needsReplicas } from '../preparation/prepared-scaled-object.ts';
import type { PreparedMetric } from '../preparation/prepared-triggers.ts';
import type { Modifiers } from '../preparation/scaling-modifiers.ts';

/** What of the target decides how many replicas a fallback asks for. */
export interface FallbackContext {
  /** How many there are to be now; `undefined` where that cannot be read. */
  readonly replicas: number | undefined;
  /** How many pods run and are ready; `undefined` where that is not known. */
  readonly readyPods: number | undefined;
  readonly modifiers: Modifiers | undefined;
}

/** How many replicas a fallback asks for; `undefined` where the current number matters and is not known. */
export function fallbackReplicas(fallback: Fallback, current: number | undefined) {
  const { replicas, behavior } = fallback;
  if (!needsReplicas(fallback)) return replicas;
  if (current === undefined) return undefined;
  if (behavior === 'currentReplicas') return current;
  return behavior === 'currentReplicasIfHigher' ? Math.max(current, replicas) : Math.min(current, replicas);
}

/**
 * The value that stands in for one that cannot be read, so that the HPA comes to the replicas that are wanted.
 *
 * @throws an Error where that cannot be told
 */
export function fallbackValue(
  { target: own, targetType: ownType }: Pick<PreparedMetric, 'target' | 'targetType'>,
  fallback: Fallback,
  { replicas: current, readyPods, modifiers }: FallbackContext,
): number | undefined {
  const replicas = fallbackReplicas(fallback, current);
  if (replicas === undefined) return undefined;
  const target = modifiers?.target ?? own;
  const type = modifiers?.metricType ?? ownType;
  if (type !== 'Value') return target * replicas;
  // The HPA multiplies by the ready pods, so that it comes to R of them: value / target * ready = R.
  if (!readyPods) throw new Error('error performing fallback');
  return (target * replicas) / readyPods;
}

/** What is known of how often metrics were asked for. */
interface PolledMetric {
  readonly metricName: string;
  /** How often its source was asked, ever. */
  readonly pollCount: number;
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
   * @param maxFailures more are not counted: nothing changes beyond them
   */
  next(
    before: ScaledObjectStatus['health'],
    metrics: readonly PolledMetric[],
    maxFailures: number,
  ): Readonly<Record<string, MetricHealth>> {
    const health = new Map<string, MetricHealth>();
    const previousCounts = this.#counted;
    this.#counted = new Map(metrics.map(({ metricName, pollCount }) => [metricName, pollCount]));
    for (const { metricName, pollCount, failuresInARow } of metrics) {
      const previous = getOwn(before, metricName);
      const { numberOfFailures = 0 } = previous ?? {};
      const counted = previousCounts.get(metricName);
      if (failuresInARow > 0) {
        // A collector that was made again begins at 0.
        const polls = counted === undefined || pollCount < counted ? pollCount : pollCount - counted;
        const added = Math.min(polls, failuresInARow);
        // Of what failed before this term, its predecessor has counted some: nobody knows how many.
        const failures =
          counted === undefined ? Math.max(numberOfFailures + 1, failuresInARow) : numberOfFailures + added;
        const most = Math.max(maxFailures, numberOfFailures);
        health.set(metricName, { numberOfFailures: Math.min(failures, most), status: 'Failing' });
      } else if (pollCount > 0) health.set(metricName, { numberOfFailures: 0, status: 'Happy' });
      else if (previous) health.set(metricName, previous);
    }
    return Object.fromEntries(health);
  }
}
