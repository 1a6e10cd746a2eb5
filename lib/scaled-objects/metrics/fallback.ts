import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { Fallback, MetricHealth, ScaledObjectStatus } from '../api/scaled-object.ts';
import { needsReplicas } from '../preparation/prepared-scaled-object.ts';
import type { PreparedMetric } from '../preparation/prepared-triggers.ts';
import type { Modifiers } from '../preparation/scaling-modifiers.ts';

/** State of the target that a fallback depends on. */
export interface FallbackContext {
  /** `spec.replicas` of the target; `undefined` if it cannot be read. */
  readonly replicas: number | undefined;
  /** Ready pods of the target; `undefined` if unknown. */
  readonly readyPods: number | undefined;
  readonly modifiers: Modifiers | undefined;
}

/** Replicas of a fallback; `undefined` if they depend on the current replicas and these are unknown. */
export function fallbackReplicas(fallback: Fallback, current: number | undefined) {
  const { replicas, behavior } = fallback;
  if (!needsReplicas(fallback)) return replicas;
  if (current === undefined) return undefined;
  if (behavior === 'currentReplicas') return current;
  return behavior === 'currentReplicasIfHigher' ? Math.max(current, replicas) : Math.min(current, replicas);
}

/**
 * The metric value that makes the HPA compute the replicas of the fallback.
 *
 * @returns `undefined` if the replicas of the fallback are unknown
 * @throws an Error for a metric of type Value if no pod is ready
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
  // The HPA multiplies by the number of ready pods: value / target * ready = R.
  if (!readyPods) throw new Error('error performing fallback');
  return (target * replicas) / readyPods;
}

/** Polls of a metric. */
interface PolledMetric {
  readonly metricName: string;
  /** Polls since its collector was created. */
  readonly pollCount: number;
  /** Failures since its last response. */
  readonly failuresInARow: number;
}

/**
 * Counts failures in a row for one object. The counts are stored in its status, which all replicas read; this class only
 * records which polls are counted already.
 */
export class HealthCounter {
  #counted: ReadonlyMap<string, number> = new Map();

  /**
   * The health of the given metrics; others are dropped from the status.
   *
   * @param maxFailures limits the count: a higher one would change nothing but write the status
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
        // The count of a new collector starts at 0.
        const polls = counted === undefined || pollCount < counted ? pollCount : pollCount - counted;
        const added = Math.min(polls, failuresInARow);
        // The previous leader has counted an unknown part of the failures before this term.
        const failures =
          counted === undefined ? Math.max(numberOfFailures + 1, failuresInARow) : numberOfFailures + added;
        const max = Math.max(maxFailures, numberOfFailures);
        health.set(metricName, { numberOfFailures: Math.min(failures, max), status: 'Failing' });
      } else if (pollCount > 0) health.set(metricName, { numberOfFailures: 0, status: 'Happy' });
      else if (previous) health.set(metricName, previous);
    }
    return Object.fromEntries(health);
  }
}
