import {
  FAILED_METRIC_STATUS,
  type MetricSpec,
  type MetricStatus,
  type MetricTarget,
  type MetricValueStatus,
} from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { QuantityError } from '#lib/kubernetes/quantity.ts';
import type { MetricReading } from './decision-input.ts';
import {
  containerResourceMetric,
  externalMetric,
  type MetricContext,
  type MetricRule,
  objectMetric,
  podsMetric,
  resourceMetric,
} from './metric-kinds.ts';
import { MetricFailure, type Proposal, SelectorFailure } from './replica-calculator.ts';

/** What an HPA's metrics ask for together. */
export interface MetricsOutcome {
  readonly statuses: readonly MetricStatus[];
  readonly explanations: readonly MetricExplanation[];
  /** In the order of the spec. */
  readonly failures: readonly NonNullable<MetricOutcome['failure']>[];
  /** That metrics failed, and the first reason. */
  readonly error: string | undefined;
  /** Absent where too little is known to scale. */
  readonly proposal?: { readonly replicas: number; readonly name: string; readonly leadingMetric: number };
}

/**
 * Puts the metrics of an HPA together: the largest proposal wins.
 *
 * A metric that failed might have asked for more, so what remains may not scale down; if all failed, nothing may happen.
 *
 * @param readings one for each metric, in the order of the spec
 */
export function evaluateMetrics(
  metrics: readonly MetricSpec[],
  readings: readonly MetricReading[],
  context: Omit<MetricContext, 'reading'>,
): MetricsOutcome {
  const outcomes = metrics.map((spec, place) =>
    evaluateMetric(spec, { ...context, reading: readings[place] ?? NOT_READ }),
  );
  const failures = outcomes.flatMap(({ failure }) => failure ?? []);
  const [first] = failures;
  const common = {
    failures,
    statuses: outcomes.map(({ status }) => status),
    explanations: outcomes.map((outcome, place) => explanationOf(outcome, metrics[place], readings[place])),
    error:
      first &&
      `invalid metrics (${failures.length} invalid out of ${metrics.length}), first error is: ${first.error}`,
  };
  const leading = leadingOf(outcomes);
  if (failures.length >= metrics.length) return common;
  if (failures.length > 0 && leading.replicas < context.specReplicas) return common;
  return { ...common, proposal: leading };
}

const NOT_READ: MetricReading = { error: 'not read' };

/** The largest proposal, the first of equals; one of nothing gives way to whatever follows. */
function leadingOf(outcomes: readonly MetricOutcome[]): NonNullable<MetricsOutcome['proposal']> {
  let leading = { replicas: 0, name: '', leadingMetric: -1 };
  outcomes.forEach(({ name, proposal }, leadingMetric) => {
    if (!proposal) return;
    const { replicas } = proposal;
    if (leading.replicas === 0 || replicas > leading.replicas) leading = { replicas, name, leadingMetric };
  });
  return leading;
}

function explanationOf(
  { name, status, proposal, failure }: MetricOutcome,
  spec: MetricSpec | undefined,
  reading: MetricReading | undefined,
): MetricExplanation {
  const source = spec && sourceOf(spec);
  const takenAtMs = reading && oldestOf(reading);
  return {
    type: spec?.type ?? '',
    name,
    target: source?.target,
    current: currentOf(status),
    ...(takenAtMs === undefined ? {} : { takenAtMs }),
    ...(proposal ? { proposal: explained(proposal) } : {}),
    ...(failure ? { failure } : {}),
  };
}

function explained({ current: _, ...proposal }: Proposal): ExplainedProposal {
  return proposal;
}

function sourceOf(spec: MetricSpec): { readonly target: MetricExplanation['target'] } | undefined {
  if (spec.type === 'Resource') return spec.resource;
  if (spec.type === 'ContainerResource') return spec.containerResource;
  if (spec.type === 'Pods') return spec.pods;
  return spec.type === 'Object' ? spec.object : spec.external;
}

function currentOf(status: MetricStatus): MetricExplanation['current'] {
  const { resource, containerResource, pods, object, external } = status;
  return (resource ?? containerResource ?? pods ?? object ?? external)?.current;
}

function oldestOf(reading: MetricReading): number | undefined {
  if ('error' in reading) return undefined;
  if (!('podUsage' in reading)) return reading.takenAtMs;
  let oldest: number | undefined;
  for (const { takenAtMs } of reading.podUsage)
    if (!(oldest !== undefined && oldest <= takenAtMs)) oldest = takenAtMs;
  return oldest;
}

/** What became of one metric: a proposal, or why there is none. */
interface MetricOutcome {
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

/** A proposal as an explanation holds it. */
export type ExplainedProposal = Omit<Proposal, 'current'>;

/** What one metric contributed. */
export interface MetricExplanation {
  readonly type: string;
  readonly name: string;
  readonly target: MetricTarget | undefined;
  /** As the status shows it. */
  readonly current: MetricValueStatus | undefined;
  /** When the oldest value was taken, where that is known. */
  readonly takenAtMs?: number;
  /** Without its amount, which `current` is the text of, so that all of this can be JSON. */
  readonly proposal?: ExplainedProposal;
  readonly failure?: MetricFailureOutcome;
}
