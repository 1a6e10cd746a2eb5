import type { ConditionChange } from '#lib/control/status/conditions.ts';
import { targetOf } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { limitReplicas } from './decision/behavior.ts';
import type { Decision, DecisionInput, Explanation, HpaEvent } from './decision/decision.ts';
import type { Scale } from './decision/decision-input.ts';
import { evaluateMetrics, type MetricsOutcome } from './decision/evaluate-metrics.ts';
import { tolerancesOf } from './decision/replica-calculator.ts';
import { minReplicasOf, scaledToZeroAfter } from './replica-bounds.ts';
import { type SelectionProblem, selectionProblem } from './selected-pods.ts';

/** Decides by the metrics of an HPA whose target is within its bounds. */
export function decideByMetrics(input: DecisionInput, scale: Scale, scaleWasRead: ConditionChange): Decision {
  const { hpa, rivals, pods, readings, config, nowMs } = input;
  const { namespace, name } = hpa.metadata;
  const { specReplicas } = scale;
  const problem = selectionProblem(scale.selector, { own: `${namespace}/${name}`, rivals });
  if (problem) return withUnclearPods(input, scale, { problem, scaleWasRead });

  const { metrics = [], behavior } = hpa.spec;
  const tolerances = tolerancesOf(behavior, config);
  const context = { ...scale, pods, namespace, tolerances, config, nowMs };
  const outcome = evaluateMetrics(metrics, readings, context);
  const { proposal } = outcome;
  if (!proposal) return withMissingMetrics(input, scale, { outcome, scaleWasRead });

  const proposed = Math.max(proposal.replicas, 0);
  const limited = limitReplicas(proposed, scale, input);
  // What was recommended at zero does not hold an HPA there that may not stay.
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
    explanation: explained(input, scale, {
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

/** Why it would scale; what stabilization and limits make of it later has no reason of its own. */
function reasonOf(proposed: number, current: number, metric: string): string {
  if (proposed > current) return `${metric} above target`;
  return proposed < current ? 'All metrics below target' : '';
}

function withUnclearPods(
  input: DecisionInput,
  scale: Scale,
  { problem, scaleWasRead }: { readonly problem: SelectionProblem; readonly scaleWasRead: ConditionChange },
): Decision {
  const { reason, eventReason, message, error } = problem;
  return undecided(input, scale, {
    conditions: [scaleWasRead, { type: 'ScalingActive', isTrue: false, reason, message }],
    events: [{ type: 'Warning', reason: eventReason, message: error }],
    problem: error,
    currentMetrics: null,
    explanation: { step: 'unclear-pods', metrics: [] },
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

/** The API server gives an HPA without metrics the target of CPU, so only a broken one has none. */
const NO_METRICS = 'the HPA has no metrics';

/** Leaves the scale alone and says why. */
function undecided(
  input: DecisionInput,
  scale: Scale,
  found: Pick<Decision, 'conditions' | 'events'> &
    Pick<NonNullable<Decision['status']>, 'currentMetrics'> & {
      readonly problem: string;
      readonly explanation: Pick<Explanation, 'step' | 'metrics'>;
    },
): Decision {
  const { conditions, problem, currentMetrics } = found;
  const failed: HpaEvent = { type: 'Warning', reason: 'FailedComputeMetricsReplicas', message: problem };
  return {
    scaleTo: undefined,
    scaleReason: '',
    conditions,
    events: [...found.events, failed],
    error: `failed to compute desired number of replicas based on listed metrics for ${targetOf(input.hpa)}: ${problem}`,
    status: { currentReplicas: scale.specReplicas, desiredReplicas: undefined, currentMetrics },
    memory: input.memory,
    explanation: explained(input, scale, {
      ...found.explanation,
      desiredReplicas: scale.specReplicas,
      problem,
    }),
  };
}

function eventsOf({ failures }: MetricsOutcome): HpaEvent[] {
  return failures.map(({ reason, message }) => ({ type: 'Warning', reason, message }));
}

function explained(
  { hpa, nowMs }: DecisionInput,
  { specReplicas }: Scale,
  known: Omit<Explanation, 'atMs' | 'currentReplicas' | 'minReplicas' | 'maxReplicas'>,
): Explanation {
  const { maxReplicas } = hpa.spec;
  return {
    ...{ atMs: nowMs, currentReplicas: specReplicas, minReplicas: minReplicasOf(hpa), maxReplicas },
    ...known,
  };
}
