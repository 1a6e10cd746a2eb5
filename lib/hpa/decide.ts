import { type ConditionChange, NO_SCALED_TO_ZERO } from '#lib/control/status/conditions.ts';
import { type HorizontalPodAutoscaler, targetOf } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { decideByMetrics } from './decide-by-metrics.ts';
import type { Decision, DecisionInput, Explanation } from './decision/decision.ts';
import { type HpaConfig, type Scale, type ScaleFailure, scaleError } from './decision/decision-input.ts';
import type { HpaMemory } from './decision/scaling-state.ts';
import { type BoundsStep, boundsStep, minReplicasOf, scaledToZeroAfter } from './replica-bounds.ts';

/**
 * Decides how many replicas the target of an HPA is to have, as Kubernetes 1.36's controller does.
 *
 * It reads nothing and writes nothing: who calls it reads before (`needsMetrics` tells what), writes the scale if the
 * decision says so, and gives what came of that to `conclude`.
 */
export function decide(input: DecisionInput): Decision {
  const { hpa, scale, config, nowMs } = input;
  if (!isScale(scale)) return withoutScale(input, scale);
  const step = boundsStep(hpa, scale, config);
  const seen = { ...input, memory: withFirstRecommendation(input.memory, scale.specReplicas, nowMs) };
  return step === undefined ? decideByMetrics(seen, scale, SCALE_WAS_READ) : byBounds(seen, scale, step);
}

/** Whether metrics have to be read to decide. */
export function needsMetrics(
  hpa: HorizontalPodAutoscaler,
  scale: Scale | ScaleFailure,
  config: Pick<HpaConfig, 'scaleToZero'>,
): boolean {
  return isScale(scale) && boundsStep(hpa, scale, config) === undefined;
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
      ...{ step: 'no-scale', currentReplicas: undefined, desiredReplicas: undefined, problem: error },
    }),
  };
}

function explained(
  { hpa, nowMs }: DecisionInput,
  known: Omit<Explanation, 'atMs' | 'minReplicas' | 'maxReplicas' | 'metrics'>,
): Explanation {
  const { maxReplicas } = hpa.spec;
  return { atMs: nowMs, minReplicas: minReplicasOf(hpa), maxReplicas, metrics: [], ...known };
}

/** An HPA that is met for the first time is taken to want what there is. */
function withFirstRecommendation(memory: HpaMemory, replicas: number, nowMs: number): HpaMemory {
  if (memory.recommendations.length > 0) return memory;
  return { ...memory, recommendations: [{ replicas, atMs: nowMs }] };
}
