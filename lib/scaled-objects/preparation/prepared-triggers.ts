import type { MetricType } from '../api/scaled-object.ts';
import { UnreadReference } from '../triggers/authentication/reference-reader.ts';
import type { ExternalMetric, PushSource, ResourceMetric } from '../triggers/trigger.ts';

/** An external metric of a trigger, under the name that HPAs ask for. */
export interface PreparedMetric extends ExternalMetric {
  /** With the trigger's index: `s0-prometheus`. */
  readonly metricName: string;
  readonly targetType: 'AverageValue' | 'Value';
}

/** One trigger, as far as it could be planned. */
export interface PreparedTrigger {
  readonly index: number;
  readonly type: string;
  readonly name: string | undefined;
  /** The series label `scaler`. */
  readonly scaler: string;
  readonly isCached: boolean;
  /** Keys of its metadata that it does not know. */
  readonly unmatched: readonly string[];
  /** What its authentication refers to that is not there; some of it where it is much. */
  readonly missing: readonly string[];
  readonly metrics: readonly PreparedMetric[];
  readonly resource: ResourceMetric | undefined;
  readonly push: PushSource | undefined;
  /** Why it cannot be asked. */
  readonly error: Error | undefined;
}

/** What is to be asked for an object. */
export interface PreparedTriggers {
  readonly uid: string | undefined;
  readonly generation: number | undefined;
  readonly triggers: readonly PreparedTrigger[];
  readonly preparedAtMs: number;
}

/** The first reason why a trigger cannot be asked; an {@link UnreadReference} only where there is no other. */
export function preparationError({ triggers }: Pick<PreparedTriggers, 'triggers'>): Error | undefined {
  const errors = triggers.flatMap(({ error }) => error ?? []);
  return errors.find((error) => !(error instanceof UnreadReference)) ?? errors[0];
}

/** All external metrics, in the order of triggers. */
export function preparedMetrics({ triggers }: PreparedTriggers): readonly PreparedMetric[] {
  return triggers.flatMap(({ metrics }) => metrics);
}

/** The type under which an external metric goes into an HPA. @throws for one that it cannot have */
export function externalTargetType(metricType: MetricType | undefined): PreparedMetric['targetType'] {
  if (metricType === undefined) return 'AverageValue';
  if (metricType !== 'Utilization') return metricType;
  throw new Error(
    "'Utilization' metric type is unsupported for external metrics, allowed values are 'Value' or 'AverageValue'",
  );
}
