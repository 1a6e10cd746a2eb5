import { memoize } from '#lib/cache/memoize.ts';
import { runAllSteps, type Steps } from '#lib/concurrency/event-loop.ts';
import type { EventText } from '#lib/control/event-recorder.ts';
import {
  type HorizontalPodAutoscaler,
  minReplicasOf,
  targetOf,
} from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import {
  MAX_SELECTOR_LENGTH,
  parseLabelSelector,
  SelectorError,
} from '#lib/kubernetes/selectors/label-selector.ts';
import { limitReplicas } from './behavior.ts';
import type { BoundsStep, Decision, Explanation } from './decision.ts';
import {
  type DecisionInput,
  type HpaConfig,
  type Scale,
  type ScaleFailure,
  scaleError,
} from './decision-input.ts';
import { evaluateMetricsInSteps, type MetricsOutcome } from './evaluate-metrics.ts';
import { type ConditionChange, type ConditionRemoval, NO_SCALED_TO_ZERO } from './hpa-conditions.ts';
import { tolerancesOf } from './replica-calculator.ts';

/**
 * Decides the replicas of an HPA's target as the controller of Kubernetes 1.36 does.
 *
 * Pure: the caller reads the inputs (`needsMetrics` returns whether metrics are among them), writes the scale of the
 * decision, and passes the result to `conclude`.
 */
export function decide(input: DecisionInput): Decision {
  return runAllSteps(decideInSteps(input));
}

/** {@link decide} in steps: with thousands of metrics and pods it takes minutes. */
export function* decideInSteps(input: DecisionInput): Steps<Decision> {
  const { hpa, scale, config } = input;
  if (!isScale(scale)) return withoutScale(input, scale);
  const step = boundsStep(hpa, scale, config);
  const seen = withFirstRecommendation(input, scale.specReplicas);
  if (step !== undefined) return byBounds(seen, scale, step);
  return yield* decideByMetrics(seen, scale, SCALE_WAS_READ);
}

/** Whether the decision needs metrics. */
export function needsMetrics(
  hpa: HorizontalPodAutoscaler,
  scale: Scale | ScaleFailure,
  config: Pick<HpaConfig, 'scaleToZero'>,
): boolean {
  return isScale(scale) && hpa.omitted === undefined && boundsStep(hpa, scale, config) === undefined;
}

const SCALE_WAS_READ: ConditionChange = {
  type: 'AbleToScale',
  isTrue: true,
  reason: 'SucceededGetScale',
  message: "the HPA controller was able to get the target's current scale",
};

const SWITCHED_OFF: ConditionChange = {
  type: 'ScalingActive',
  isTrue: false,
  reason: 'ScalingDisabled',
  message: 'scaling is disabled since the replica count of the target is zero',
};

const REASONS: Readonly<Record<BoundsStep, string>> = {
  'switched-off': '',
  'above-max': 'Current number of replicas above Spec.MaxReplicas',
  'below-min': 'Current number of replicas below Spec.MinReplicas',
};

function isScale(scale: Scale | ScaleFailure): scale is Scale {
  return !('step' in scale);
}

function byBounds(input: DecisionInput, { specReplicas }: Scale, step: BoundsStep): Decision {
  const { hpa, memory, config } = input;
  const scaleTo =
    step === 'switched-off' ? undefined : step === 'above-max' ? hpa.spec.maxReplicas : minReplicasOf(hpa);
  const desiredReplicas = scaleTo ?? specReplicas;
  return {
    scaleTo,
    scaleReason: REASONS[step],
    conditions:
      step !== 'switched-off'
        ? [SCALE_WAS_READ]
        : [SCALE_WAS_READ, SWITCHED_OFF, ...(config.scaleToZero ? [] : [NO_SCALED_TO_ZERO])],
    scaledToZero: scaledToZeroAfter(desiredReplicas, hpa, config),
    events: [],
    error: undefined,
    status: { currentReplicas: specReplicas, desiredReplicas, currentMetrics: null },
    memory,
    explanation: explained(input, { step, currentReplicas: specReplicas, desiredReplicas }),
  };
}

function withoutScale(input: DecisionInput, failure: ScaleFailure): Decision {
  const { message } = failure;
  const error = scaleError(failure, targetOf(input.hpa));
  return {
    scaleTo: undefined,
    scaleReason: '',
    conditions: [
      {
        type: 'AbleToScale',
        isTrue: false,
        reason: 'FailedGetScale',
        message: `the HPA controller was unable to get the target's current scale: ${message}`,
      },
    ],
    events: [{ type: 'Warning', reason: 'FailedGetScale', message }],
    error,
    status: undefined,
    memory: input.memory,
    explanation: explained(input, {
      step: 'no-scale',
      currentReplicas: undefined,
      desiredReplicas: undefined,
      problem: error,
    }),
  };
}

function explained(
  { hpa, nowMs }: DecisionInput,
  facts: Omit<Explanation, 'atMs' | 'minReplicas' | 'maxReplicas' | 'metrics'>,
): Explanation {
  const { maxReplicas } = hpa.spec;
  return { atMs: nowMs, minReplicas: minReplicasOf(hpa), maxReplicas, metrics: [], ...facts };
}

/** The first recommendation of a new HPA is its current replicas. */
function withFirstRecommendation(input: DecisionInput, replicas: number): DecisionInput {
  const { memory, nowMs } = input;
  if (memory.recommendations.length > 0) return input;
  return { ...input, memory: { ...memory, recommendations: [{ replicas, atMs: nowMs }] } };
}

/** Decides by metrics for a target within its bounds. */
function* decideByMetrics(
  input: DecisionInput,
  scale: Scale,
  scaleWasRead: ConditionChange,
): Steps<Decision> {
  const { hpa, pods, overlapping, selectionError, readings, config, nowMs } = input;
  const { namespace, name } = hpa.metadata;
  const { specReplicas, statusReplicas } = scale;
  if (hpa.omitted !== undefined)
    return withProblem(input, scale, {
      step: 'omitted-spec',
      problem: problemOf('SpecTooLarge', hpa.omitted),
      scaleWasRead,
    });
  const own = `${namespace}/${name}`;
  const problem = selectionProblem(scale.selector, { own, overlapping, selectionError });
  if (problem) return withProblem(input, scale, { step: 'unclear-pods', problem, scaleWasRead });

  const { metrics = [], behavior } = hpa.spec;
  const tolerances = tolerancesOf(behavior, config);
  const context = { specReplicas, statusReplicas, pods, namespace, tolerances, config, nowMs };
  const outcome = yield* evaluateMetricsInSteps(metrics, readings, context);
  const { proposal } = outcome;
  if (!proposal) return withMissingMetrics(input, scale, { outcome, scaleWasRead });

  const proposed = Math.max(proposal.replicas, 0);
  const limited = limitReplicas(proposed, scale, input);
  // A recommendation of 0 does not apply to an HPA that may leave 0.
  const replicas =
    specReplicas === 0 ? Math.max(limited.limit.replicas, minReplicasOf(hpa)) : limited.limit.replicas;
  const isScaling = replicas !== specReplicas;
  return {
    scaleTo: isScaling ? replicas : undefined,
    scaleReason: reasonOf(proposed, specReplicas, proposal.replicas > 0 ? proposal.name : ''),
    conditions: [
      scaleWasRead,
      {
        type: 'ScalingActive',
        isTrue: true,
        reason: 'ValidMetricFound',
        message: `the HPA was able to successfully calculate a replica count from ${proposal.name}`,
      },
      ...limited.conditions,
    ],
    scaledToZero: scaledToZeroAfter(replicas, hpa, config),
    events: eventsOf(outcome),
    error: outcome.error,
    status: {
      currentReplicas: specReplicas,
      desiredReplicas: replicas,
      currentMetrics: outcome.statuses,
    },
    memory: limited.memory,
    explanation: explainedByMetrics(input, scale, {
      step: 'metrics',
      metrics: outcome.explanations,
      leadingMetric: proposal.leadingMetric,
      proposedReplicas: proposal.replicas,
      stabilization: limited.stabilization,
      limit: limited.limit,
      desiredReplicas: replicas,
      ...(outcome.error === undefined ? {} : { problem: outcome.error }),
    }),
  };
}

/** The reason of the scale event; stabilization and limits have none of their own. */
function reasonOf(proposed: number, current: number, metric: string): string {
  if (proposed > current) return `${metric} above target`;
  return proposed < current ? 'All metrics below target' : '';
}

interface FoundProblem {
  readonly step: 'omitted-spec' | 'unclear-pods';
  readonly problem: DecisionProblem;
  readonly scaleWasRead: ConditionChange;
}

function withProblem(
  input: DecisionInput,
  scale: Scale,
  { step, problem, scaleWasRead }: FoundProblem,
): Decision {
  const { reason, eventReason, message, error } = problem;
  return undecided(input, scale, {
    conditions: [scaleWasRead, { type: 'ScalingActive', isTrue: false, reason, message }],
    events: [{ type: 'Warning', reason: eventReason, message: error }],
    problem: error,
    currentMetrics: null,
    explanation: { step, metrics: [] },
  });
}

function withMissingMetrics(
  input: DecisionInput,
  scale: Scale,
  { outcome, scaleWasRead }: { readonly outcome: MetricsOutcome; readonly scaleWasRead: ConditionChange },
): Decision {
  const [first = { reason: 'NoMetrics', message: NO_METRICS }] = outcome.failures;
  const { reason } = first;
  const message = `the HPA was unable to compute the replica count: ${first.message}`;
  return undecided(input, scale, {
    conditions: [scaleWasRead, { type: 'ScalingActive', isTrue: false, reason, message }],
    events: eventsOf(outcome),
    problem: outcome.error ?? NO_METRICS,
    currentMetrics: outcome.statuses,
    explanation: { step: 'metrics-missing', metrics: outcome.explanations },
  });
}

/** The API server defaults missing metrics to CPU; only a malformed HPA has none. */
const NO_METRICS = 'the HPA has no metrics';

interface Undecided extends Pick<Decision, 'conditions' | 'events'> {
  readonly currentMetrics: NonNullable<Decision['status']>['currentMetrics'];
  readonly problem: string;
  readonly explanation: Pick<Explanation, 'step' | 'metrics'>;
}

/** Leaves the scale unchanged, with the cause. */
function undecided(input: DecisionInput, scale: Scale, found: Undecided): Decision {
  const { conditions, problem, currentMetrics } = found;
  const failed: EventText = { type: 'Warning', reason: 'FailedComputeMetricsReplicas', message: problem };
  return {
    scaleTo: undefined,
    scaleReason: '',
    conditions,
    events: [...found.events, failed],
    error: `failed to compute desired number of replicas based on listed metrics for ${targetOf(input.hpa)}: ${problem}`,
    status: { currentReplicas: scale.specReplicas, desiredReplicas: undefined, currentMetrics },
    memory: input.memory,
    explanation: explainedByMetrics(input, scale, {
      ...found.explanation,
      desiredReplicas: scale.specReplicas,
      problem,
    }),
  };
}

function eventsOf({ failures }: MetricsOutcome): EventText[] {
  return failures.map(({ reason, message }) => ({ type: 'Warning', reason, message }));
}

function explainedByMetrics(
  { hpa, nowMs }: DecisionInput,
  { specReplicas }: Scale,
  facts: Omit<Explanation, 'atMs' | 'currentReplicas' | 'minReplicas' | 'maxReplicas'>,
): Explanation {
  const { maxReplicas } = hpa.spec;
  return {
    atMs: nowMs,
    currentReplicas: specReplicas,
    minReplicas: minReplicasOf(hpa),
    maxReplicas,
    ...facts,
  };
}

/** The step for a target outside its bounds, which needs no metrics. */
function boundsStep(
  hpa: HorizontalPodAutoscaler,
  { specReplicas }: Scale,
  { scaleToZero }: Pick<HpaConfig, 'scaleToZero'>,
): BoundsStep | undefined {
  if (specReplicas === 0) return scaleToZero && mayLeaveZero(hpa) ? undefined : 'switched-off';
  if (specReplicas > hpa.spec.maxReplicas) return 'above-max';
  return specReplicas < minReplicasOf(hpa) ? 'below-min' : undefined;
}

/** Whether this HPA scaled its target to zero, and may not stay there or has metrics that need no pods. */
function mayLeaveZero(hpa: HorizontalPodAutoscaler): boolean {
  const scaledToZero = hpa.status?.conditions?.find(({ type }) => type === 'ScaledToZero');
  return scaledToZero?.status === 'True' && (minReplicasOf(hpa) !== 0 || hasMetricsWithoutPods(hpa));
}

/** Whether an HPA has a metric with values while its target has no pods. */
function hasMetricsWithoutPods({ spec }: HorizontalPodAutoscaler): boolean {
  return spec.metrics?.some(({ type }) => type === 'Object' || type === 'External') ?? false;
}

/** The condition ScaledToZero after a scale was written. */
function scaledToZeroAfter(
  replicas: number,
  hpa: HorizontalPodAutoscaler,
  { scaleToZero }: Pick<HpaConfig, 'scaleToZero'>,
): ConditionChange | ConditionRemoval {
  if (!scaleToZero) return NO_SCALED_TO_ZERO;
  const isTrue = replicas === 0 && minReplicasOf(hpa) === 0 && hasMetricsWithoutPods(hpa);
  return {
    type: 'ScaledToZero',
    isTrue,
    reason: isTrue ? 'ScaledToZero' : 'NotScaledToZero',
    message: `the HPA controller ${isTrue ? 'scaled' : 'did not scale'} the workload to zero`,
  };
}

/** Why an HPA is not decided by metrics. */
interface DecisionProblem {
  /** Reason of event and condition; the event of a missing selector has another one. */
  readonly reason: string;
  readonly eventReason: string;
  readonly message: string;
  /** Message of the event, and error of the reconciliation. */
  readonly error: string;
}

/**
 * Checks that the scale's selector is valid, that its pods can be selected, and that no other HPA selects them.
 *
 * @param own `namespace/name` of the HPA
 * @param overlapping `namespace/name` of HPAs that select one of its pods
 * @param selectionError why the pods cannot be selected
 */
export function selectionProblem(
  selector: string,
  {
    own,
    overlapping,
    selectionError,
  }: { readonly own: string } & Pick<DecisionInput, 'overlapping' | 'selectionError'>,
): DecisionProblem | undefined {
  if (selector === '') {
    return {
      reason: 'InvalidSelector',
      eventReason: 'SelectorRequired',
      message: "the HPA target's scale is missing a selector",
      error: 'selector is required',
    };
  }
  if (selector.length > MAX_SELECTOR_LENGTH)
    return problemOf(
      'InvalidSelector',
      `the selector of the scale has ${selector.length} characters, more than ${MAX_SELECTOR_LENGTH}`,
    );
  try {
    parseScaleSelector(selector);
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    return problemOf(
      'InvalidSelector',
      `couldn't convert selector into a corresponding internal selector object: ${error.message}`,
    );
  }
  if (selectionError !== undefined) return problemOf('UnselectablePods', selectionError);
  if (overlapping.length === 0) return undefined;
  const all = [...overlapping, own].sort();
  const more = all.length > MAX_NAMED ? ` and ${all.length - MAX_NAMED} more` : '';
  return problemOf(
    'AmbiguousSelector',
    `pods by selector ${selector} are controlled by multiple HPAs: [${all.slice(0, MAX_NAMED).join(' ')}${more}]`,
  );
}

/** Parses the selector of a scale, which is the same in each decision. @throws {SelectorError} */
export const parseScaleSelector = memoize(parseLabelSelector, {
  maxEntries: 16_384,
  maxLength: 256,
  isSmall: ({ requirements }) => requirements.length <= 8,
});

/** Bounds the message: each overlapping HPA gets it, in its status and in events. */
const MAX_NAMED = 20;

function problemOf(reason: string, message: string): DecisionProblem {
  return { reason, eventReason: reason, message, error: message };
}
