import type { MetricType } from '../api/object-schemas.ts';
import { UnreadReference } from '../triggers/authentication/reference-reader.ts';
import type { ExternalMetric, PushSource, ResourceMetric } from '../triggers/trigger.ts';

/** An external metric of a trigger, with the name that HPAs request. */
export interface PreparedMetric extends ExternalMetric {
  /** With the index of the trigger: `s0-prometheus`. */
  readonly metricName: string;
  readonly targetType: 'AverageValue' | 'Value';
}

/** One trigger; if preparing it failed, with an error and without metrics. */
export interface PreparedTrigger {
  readonly index: number;
  readonly type: string;
  readonly name: string | undefined;
  /** The series label `scaler`. */
  readonly scaler: string;
  readonly isCached: boolean;
  /** Keys of its metadata that have no effect. */
  readonly unmatched: readonly string[];
  /** References of its authentication that do not exist; at most a few. */
  readonly missing: readonly string[];
  readonly metrics: readonly PreparedMetric[];
  readonly resource: ResourceMetric | undefined;
  readonly push: PushSource | undefined;
  /** Why it cannot be polled. */
  readonly error: Error | undefined;
}

export interface PreparedTriggers {
  readonly uid: string | undefined;
  readonly generation: number | undefined;
  readonly triggers: readonly PreparedTrigger[];
  readonly preparedAtMs: number;
}

/** The first error of a trigger; an {@link UnreadReference} only if there is no other. */
export function preparationError({ triggers }: Pick<PreparedTriggers, 'triggers'>): Error | undefined {
  const errors = triggers.flatMap(({ error }) => error ?? []);
  return errors.find((error) => !(error instanceof UnreadReference)) ?? errors[0];
}

export function preparedMetrics({ triggers }: PreparedTriggers): readonly PreparedMetric[] {
  return triggers.flatMap(({ metrics }) => metrics);
}

/** Target type of an external metric in an HPA. @throws an Error with KEDA's text for `Utilization` */
export function externalTargetType(metricType: MetricType | undefined): PreparedMetric['targetType'] {
  if (metricType === undefined) return 'AverageValue';
  if (metricType !== 'Utilization') return metricType;
  throw new Error(
    "'Utilization' metric type is unsupported for external metrics, allowed values are 'Value' or 'AverageValue'",
  );
}
