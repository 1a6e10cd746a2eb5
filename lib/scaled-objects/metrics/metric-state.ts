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

/** What is known of an external metric at one moment. */
export type MetricState =
  | { readonly kind: 'pending' }
  | {
      readonly kind: 'value';
      readonly values: readonly number[];
      readonly isActive: boolean;
      readonly atMs: number;
    }
  | { readonly kind: 'failing'; readonly error: Error }
  /** Its source has failed for so long that the fallback counts. */
  | { readonly kind: 'fallback'; readonly error: Error };

/** A metric, its trigger, and what is known of it. */
export interface ObservedMetric {
  readonly trigger: PreparedTrigger;
  readonly metric: PreparedMetric;
  readonly state: MetricState;
  /** Whether its source has told by itself that there is something to do. */
  readonly isPushed: boolean;
}

/** What is looked at to tell how metrics are. */
interface ObserveOptions {
  /** Whose collectors they are. */
  readonly owner: string;
  readonly collection: Pick<Collection, 'reading' | 'failure'>;
  readonly fallback: Fallback | undefined;
  readonly health: ScaledObjectStatus['health'];
  /** By default, nothing is pushed. */
  readonly isPushed?: (trigger: PreparedTrigger) => boolean;
}

/** Time that passes between two evaluations of an object, for each of its metrics: 100 judgements a second, however many polls. */
const PAUSE_MS_PER_METRIC = 10;

/** How long an object is not evaluated again after it was, in milliseconds. */
export function evaluationPauseMs(plan: PreparedTriggers | undefined): number {
  return plan ? PAUSE_MS_PER_METRIC * preparedMetrics(plan).length : 0;
}

/** How the external metrics of an object are now. */
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

/** Whether a metric is active, and since when it has been so. */
interface Activity {
  readonly isActive: boolean;
  readonly sinceMs: number;
}

/** Remembers of the metrics of one object since when they have been active, or not. */
export class ActivityLog {
  #activities: ReadonlyMap<string, Activity> = new Map();

  /** Takes in what is known now; what is not known just now stays as it was, and what is gone goes. */
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
