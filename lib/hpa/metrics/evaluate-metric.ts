import { QuantityError } from '#lib/kubernetes/exact-quantity.ts';
import {
  FAILED_METRIC_STATUS,
  type MetricSpec,
  type MetricStatus,
} from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import {
  containerResourceMetric,
  externalMetric,
  type MetricContext,
  type MetricRule,
  objectMetric,
  podsMetric,
  resourceMetric,
} from '../decision/metric-kinds.ts';
import { MetricFailure, type Proposal, SelectorFailure } from '../decision/replica-calculator.ts';

/** What became of one metric: a proposal, or why there is none. */
export interface MetricOutcome {
  /** What conditions and events call the metric. */
  readonly name: string;
  readonly status: MetricStatus;
  readonly proposal?: Proposal;
  readonly failure?: MetricFailureOutcome;
}

export interface MetricFailureOutcome {
  /** Of condition and event. */
  readonly reason: string;
  /** Of condition and event. */
  readonly message: string;
  /** What the reconcile reports. */
  readonly error: string;
  /** Kubernetes' controller would have gone on with a number that depends on the processor. */
  readonly isRefusal: boolean;
}

/** Works out what one metric of an HPA asks for. */
export function evaluateMetric(spec: MetricSpec, context: MetricContext): MetricOutcome {
  const rule = ruleOf(spec);
  try {
    const proposal = rule.propose(context);
    return { name: rule.name, status: rule.status(proposal), proposal };
  } catch (error) {
    if (!(error instanceof MetricFailure || error instanceof QuantityError)) throw error;
    const { message } = error;
    const isRefusal = error instanceof QuantityError || error.isRefusal;
    const { failureReason: reason, errorPrefix, step = '', name } = rule;
    const prefix = error instanceof SelectorFailure ? errorPrefix : errorPrefix + step;
    const failure = { reason, message, error: prefix + message, isRefusal };
    return { name, status: FAILED_METRIC_STATUS, failure };
  }
}

function ruleOf(spec: MetricSpec): MetricRule {
  switch (spec.type) {
    case 'Resource':
      return resourceMetric(spec.resource);
    case 'ContainerResource':
      return containerResourceMetric(spec.containerResource);
    case 'Pods':
      return podsMetric(spec.pods);
    case 'Object':
      return objectMetric(spec.object);
    case 'External':
      return externalMetric(spec.external);
    default:
      return unknownMetric(String((spec as { readonly type: unknown }).type));
  }
}

/** A type that a newer API server knows. */
function unknownMetric(type: string): MetricRule {
  return {
    name: type,
    failureReason: 'InvalidMetricSourceType',
    errorPrefix: '',
    propose() {
      throw new MetricFailure(`unknown metric source type ${JSON.stringify(type)}`);
    },
    status: () => FAILED_METRIC_STATUS,
  };
}
