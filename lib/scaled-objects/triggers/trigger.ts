import type { z } from 'zod';
import type { Query, RequestTally } from '#lib/sources/query.ts';
import type { Sample } from '#lib/sources/sample.ts';

import type { MetricType } from '../api/scaled-object.ts';
import type { ParameterSources } from './parameters/read-parameters.ts';

/** A trigger that is to be planned. */
export interface TriggerRequest extends ParameterSources {
  readonly type: string;
  /** The series label `scaler`. */
  readonly scaler: string;
  /** Counts its requests by HTTP; absent where nobody does. */
  readonly requests?: RequestTally | undefined;
  /** Of the object that the trigger belongs to. */
  readonly namespace: string;
  readonly objectKind: 'ScaledObject' | 'ScaledJob';
  readonly objectName: string;
  readonly metricType: MetricType | undefined;
  /** Whether a formula sets the target, so that the trigger need not have one. */
  readonly hasFormula: boolean;
}

/** What is counted of a source, and from when on it matters. */
export interface ExternalMetric {
  /** Without the trigger's index; characters that a path cannot hold are replaced later, unless a server gave the name. */
  readonly name: string;
  readonly isNameVerbatim?: boolean;
  readonly query: Query;
  /** Whether a response without a value is 0 rather than an error; `undefined` where there are no such responses. */
  readonly isEmptyZero?: boolean;
  /** What one replica is to have; a number of whole thousandths. */
  readonly target: number;
  /** Judges the samples of one response. */
  readonly evaluate: (samples: readonly Sample[]) => MetricEvaluation;
}

/** What samples mean. */
export interface MetricEvaluation {
  /** What is served: an autoscaler adds several. */
  readonly values: readonly number[];
  readonly isActive: boolean;
}

/** A metric that the HPA controller reads itself, without us. */
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

/** What a trigger asks for. */
type TriggerPlan =
  | {
      readonly kind: 'external';
      readonly metrics: readonly ExternalMetric[];
      readonly push?: PushSource | undefined;
    }
  | { readonly kind: 'resource'; readonly metric: ResourceMetric };

/** A source that tells of itself when there is something to do. */
export interface PushSource {
  /** Tells equal sources apart from others. */
  readonly key: string;
  /** Calls back whenever the source says that it is active; ends with the signal, and otherwise never. */
  subscribe(onActive: () => void, signal: AbortSignal): Promise<void>;
}

/** A kind of triggers. */
export interface Trigger {
  /** Values of `type` that mean it. */
  readonly types: readonly string[];
  /** The series label `scaler` of a trigger without a name, as KEDA's dashboards expect it for one of `types`. */
  readonly scalerName: (type: string) => string;
  /** For the documentation: what it counts. */
  readonly description: string;
  readonly parameters: z.ZodObject;
  /** Whether keys that stand for no parameter mean something all the same, to somebody else. */
  readonly takesAnyKey?: true;
  /** @throws an Error that says which parameter cannot be used, or what could not be found out */
  plan(request: TriggerRequest, signal: AbortSignal): TriggerPlan | Promise<TriggerPlan>;
}

/** Judges that a value is active above an activation value, and not at it. */
export function above(activation: number): ExternalMetric['evaluate'] {
  return (samples) => {
    const values = samples.map(({ value }) => value);
    return { values, isActive: values.some((value) => value > activation) };
  };
}

/** The only metric of a trigger. */
export function oneMetric(metric: ExternalMetric): TriggerPlan {
  return { kind: 'external', metrics: [metric] };
}

/** The target that a trigger needs unless a formula has one. @throws with the message where it is missing or 0 */
export function neededTarget(
  target: number | undefined,
  { hasFormula }: TriggerRequest,
  message: string,
): number {
  if (target) return target;
  if (hasFormula) return 0;
  throw new Error(message);
}
