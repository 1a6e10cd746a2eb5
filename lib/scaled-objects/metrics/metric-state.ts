import type { Collection } from '#lib/collection/collection.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { toError } from '#lib/telemetry/error-text.ts';
import type { Fallback, ScaledObjectStatus } from '../api/scaled-object.ts';
import {
  type PreparedMetric,
  type PreparedTrigger,
  type PreparedTriggers,
  preparedMetrics,
} from '../preparation/prepared-triggers.ts';

/** State of an external metric at one moment. */
export type MetricState =
  | { readonly kind: 'pending' }
  | {
      readonly kind: 'value';
      readonly values: readonly number[];
      readonly isActive: boolean;
      readonly atMs: number;
    }
  | { readonly kind: 'failing'; readonly error: Error }
  /** Its source has failed more often in a row than `failureThreshold`. */
  | { readonly kind: 'fallback'; readonly error: Error };

export interface ObservedMetric {
  readonly trigger: PreparedTrigger;
  readonly metric: PreparedMetric;
  readonly state: MetricState;
  /** Whether its source has just pushed that it is active. */
  readonly isPushed: boolean;
}

interface ObserveOptions {
  /** Owner of the collectors, `namespace/name`. */
  readonly owner: string;
  readonly collection: Pick<Collection, 'reading' | 'failure'>;
  readonly fallback: Fallback | undefined;
  readonly health: ScaledObjectStatus['health'];
  /** By default none is. */
  readonly isPushed?: (trigger: PreparedTrigger) => boolean;
}

/** Minimum pause between two evaluations of an object for each of its metrics: 100 metrics per second, however many polls. */
const PAUSE_MS_PER_METRIC = 10;

/** Minimum pause between two evaluations of an object, in milliseconds. */
export function evaluationPauseMs(plan: PreparedTriggers | undefined): number {
  return plan ? PAUSE_MS_PER_METRIC * preparedMetrics(plan).length : 0;
}

export function observeMetrics(
  plan: Pick<PreparedTriggers, 'triggers'>,
  options: ObserveOptions,
): readonly ObservedMetric[] {
  return plan.triggers.flatMap((trigger) =>
    trigger.metrics.map((metric) => ({
      ...{ trigger, metric, state: stateOf(metric, options) },
      isPushed: options.isPushed?.(trigger) ?? false,
    })),
  );
}

function stateOf(metric: PreparedMetric, options: ObserveOptions): MetricState {
  const { owner, collection, fallback, health } = options;
  const failure = collection.failure(owner, metric.metricName);
  if (failure) return failed(failure.error, metric, { fallback, health });
  const reading = collection.reading(owner, metric.metricName);
  if (!reading) return { kind: 'pending' };
  try {
    const { values, isActive } = metric.evaluate(reading.samples);
    return { kind: 'value', values, isActive, atMs: reading.samples[0]?.takenAtMs ?? reading.receivedAtMs };
  } catch (error) {
    return failed(toError(error), metric, { fallback, health });
  }
}

function failed(
  error: Error,
  { metricName }: PreparedMetric,
  { fallback, health }: Pick<ObserveOptions, 'fallback' | 'health'>,
): MetricState {
  const failures = getOwn(health, metricName)?.numberOfFailures ?? 0;
  const isOver = fallback !== undefined && failures > fallback.failureThreshold;
  return { kind: isOver ? 'fallback' : 'failing', error };
}

interface Activity {
  readonly isActive: boolean;
  readonly sinceMs: number;
}

/** Records since when each metric of one object has been active or inactive. */
export class ActivityLog {
  #activities: ReadonlyMap<string, Activity> = new Map();

  /** Metrics without a value retain their activity; those that are not given are removed. */
  record(observed: readonly ObservedMetric[], nowMs: number): void {
    const entries = observed.flatMap(({ metric: { metricName }, state }): [string, Activity][] => {
      const previous = this.#activities.get(metricName);
      if (state.kind !== 'value') return previous ? [[metricName, previous]] : [];
      const { isActive } = state;
      return [[metricName, previous?.isActive === isActive ? previous : { isActive, sinceMs: nowMs }]];
    });
    this.#activities = new Map(entries);
  }

  of(metricName: string): Activity | undefined {
    return this.#activities.get(metricName);
  }
}
