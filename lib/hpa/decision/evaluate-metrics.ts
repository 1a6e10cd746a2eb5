import type { Steps } from '#lib/concurrency/event-loop.ts';
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

/** The combined proposal of an HPA's metrics. */
export interface MetricsOutcome {
  readonly statuses: readonly MetricStatus[];
  readonly explanations: readonly MetricExplanation[];
  readonly failures: readonly NonNullable<MetricOutcome['failure']>[];
  /** Number of failed metrics and the first error. */
  readonly error: string | undefined;
  /** Absent when too many metrics failed to scale. */
  readonly proposal?: { readonly replicas: number; readonly name: string; readonly leadingMetric: number };
}

/**
 * Combines the metrics of an HPA, one in each step: the highest proposal wins.
 *
 * A failed metric might have proposed more, so the others may not scale down; if all failed, nothing scales.
 *
 * @param readings one for each metric, in the order of the spec
 */
export function* evaluateMetricsInSteps(
  metrics: readonly MetricSpec[],
  readings: readonly MetricReading[],
  context: Omit<MetricContext, 'reading'>,
): Steps<MetricsOutcome> {
  const outcomes: MetricOutcome[] = [];
  const explanations: MetricExplanation[] = [];
  for (const [index, spec] of metrics.entries()) {
    const outcome = evaluateMetric(spec, { ...context, reading: readings[index] ?? NOT_READ });
    outcomes.push(outcome);
    explanations.push(explanationOf(outcome, spec, readings[index]));
    yield;
  }
  const failures = outcomes.flatMap(({ failure }) => failure ?? []);
  const [first] = failures;
  const common = {
    failures,
    statuses: outcomes.map(({ status }) => status),
    explanations,
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

/** The highest proposal, the first of equal ones; one without replicas gives way to any other. */
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
  spec: MetricSpec,
  reading: MetricReading | undefined,
): MetricExplanation {
  const source = sourceOf(spec);
  const takenAtMs = reading && oldestOf(reading);
  return {
    type: spec.type,
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

/** The proposal of one metric, or its failure. */
interface MetricOutcome {
  /** The name in conditions and events. */
  readonly name: string;
  readonly status: MetricStatus;
  readonly proposal?: Proposal;
  readonly failure?: MetricFailureOutcome;
}

interface MetricFailureOutcome {
  /** Reason and message of condition and event. */
  readonly reason: string;
  readonly message: string;
  /** Error of the reconciliation. */
  readonly error: string;
  /** Whether Kubernetes would continue with a number that depends on the processor. */
  readonly isRefusal: boolean;
}

/** Evaluates one metric. */
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

/** A metric type that this version does not support. */
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

/** A proposal without its bigint. */
export type ExplainedProposal = Omit<Proposal, 'current'>;

/** What one metric contributed to a decision. */
export interface MetricExplanation {
  readonly type: string;
  readonly name: string;
  readonly target: MetricTarget | undefined;
  /** The value in the status. */
  readonly current: MetricValueStatus | undefined;
  /** Time of the oldest value, if known. */
  readonly takenAtMs?: number;
  /** Without the amount, which `current` has as text, so that it can be JSON. */
  readonly proposal?: ExplainedProposal;
  readonly failure?: MetricFailureOutcome;
}
