import type { z } from 'zod';
import type { Query, RequestTally } from '#lib/sources/query.ts';
import type { Sample } from '#lib/sources/sample.ts';

import type { MetricType } from '../api/object-schemas.ts';
import { type ParameterSources, parametersOf } from './parameters/read-parameters.ts';

/** The input for {@link Trigger.plan}. */
export interface TriggerRequest extends ParameterSources {
  readonly type: string;
  /** The series label `scaler`. */
  readonly scaler: string;
  /** Counts HTTP requests; absent if they are not counted. */
  readonly requests?: RequestTally | undefined;
  /** Namespace of the object that has the trigger. */
  readonly namespace: string;
  readonly objectKind: 'ScaledObject' | 'ScaledJob';
  readonly objectName: string;
  readonly metricType: MetricType | undefined;
  /** Whether a formula sets the target; then the trigger needs none. */
  readonly hasFormula: boolean;
}

/** A metric that is read from a source, with its target. */
export interface ExternalMetric {
  /** Name without the index of the trigger. Characters that paths cannot contain are replaced later, unless `isNameVerbatim`. */
  readonly name: string;
  readonly isNameVerbatim?: boolean;
  readonly query: Query;
  /** Whether a response without a value is 0 instead of an error; `undefined` if the source has no such responses. */
  readonly isEmptyZero?: boolean;
  /** Target value per replica, in whole thousandths. */
  readonly target: number;
  /** Evaluates the samples of one response. @throws an Error if they have no usable value */
  readonly evaluate: (samples: readonly Sample[]) => MetricEvaluation;
}

export interface MetricEvaluation {
  /** Served values; HPAs sum them. */
  readonly values: readonly number[];
  readonly isActive: boolean;
}

/** A metric that the HPA controller reads. */
export interface ResourceMetric {
  readonly resource: 'cpu' | 'memory';
  readonly containerName: string | undefined;
  readonly target:
    | { readonly type: 'Utilization'; readonly averageUtilization: number }
    | {
        readonly type: 'AverageValue';
        readonly averageValue: string;
      };
}

/** The metrics of a trigger. */
type TriggerPlan =
  | {
      readonly kind: 'external';
      readonly metrics: readonly ExternalMetric[];
      readonly push?: PushSource | undefined;
    }
  | { readonly kind: 'resource'; readonly metric: ResourceMetric };

/** A source that pushes when it becomes active. */
export interface PushSource {
  /** Equal for equal sources. */
  readonly key: string;
  /** Calls `onActive` for each push, reconnects after failures, and rejects only when the signal aborts. */
  subscribe(onActive: () => void, signal: AbortSignal): Promise<void>;
}

/** A trigger implementation. */
export interface Trigger {
  /** Values of `type` that select it. */
  readonly types: readonly string[];
  /** The series label `scaler` of a trigger without a name, as KEDA's dashboards expect it for one of `types`. */
  readonly scalerName: (type: string) => string;
  /** For the documentation. */
  readonly description: string;
  readonly parameters: z.ZodObject;
  /** Whether other metadata keys are valid too, because the source reads them. */
  readonly takesAnyKey?: true;
  /** @throws an Error that names the invalid parameter, or a failed request */
  plan(request: TriggerRequest, signal: AbortSignal): TriggerPlan | Promise<TriggerPlan>;
}

interface TriggerDefinition<Parameters extends z.ZodObject> extends Omit<Trigger, 'parameters' | 'plan'> {
  readonly parameters: Parameters;
  /** As {@link Trigger.plan}, with the parameters of the request. */
  plan(
    given: z.output<Parameters>,
    request: TriggerRequest,
    signal: AbortSignal,
  ): ReturnType<Trigger['plan']>;
}

/** Creates a trigger that reads its parameters before it plans. */
export function defineTrigger<Parameters extends z.ZodObject>({
  plan,
  ...trigger
}: TriggerDefinition<Parameters>): Trigger {
  const { parameters } = trigger;
  return {
    ...trigger,
    plan: (request, signal) => plan(parametersOf(parameters, request), request, signal),
  };
}

/** Active if a value is greater than the activation value; equal is not active. */
export function above(activation: number): ExternalMetric['evaluate'] {
  return (samples) => {
    const values = samples.map(({ value }) => value);
    return { values, isActive: values.some((value) => value > activation) };
  };
}

export function oneMetric(metric: ExternalMetric): TriggerPlan {
  return { kind: 'external', metrics: [metric] };
}

/** Ends the description of a target without a default. */
export const REQUIRED_TARGET = 'required, unless a formula of scalingModifiers sets the target';

/** @returns the target, or 0 if a formula sets it. @throws an Error with the message if it is missing or 0 */
export function neededTarget(
  target: number | undefined,
  { hasFormula }: TriggerRequest,
  message: string,
): number {
  if (target) return target;
  if (hasFormula) return 0;
  throw new Error(message);
}
