import type { ConditionChange } from '#lib/control/status/conditions.ts';
import type { Scale } from './decision/decision-input.ts';
import type { HpaMemory } from './decision/scaling-state.ts';
import type { DecisionInput } from './decision.ts';
import { defaultLimit } from './limits/default-limit.ts';
import type { Limit } from './limits/limit.ts';
import { policyLimit } from './limits/policy-limit.ts';
import type { Stabilization } from './limits/stabilization.ts';
import { stabilizeWithBehavior } from './limits/stabilize-with-behavior.ts';
import { stabilizeWithoutBehavior } from './limits/stabilize-without-behavior.ts';
import { minReplicasOf } from './replica-bounds.ts';

/** What became of the metrics' proposal. */
export interface LimitedReplicas {
  readonly stabilization: Omit<Stabilization, 'recommendations'>;
  readonly limit: Limit;
  readonly conditions: readonly ConditionChange[];
  /** With this proposal among the recommendations. */
  readonly memory: HpaMemory;
}

/** Holds a proposal to what was recommended lately, to rates, and to the bounds of the HPA. */
export function limitReplicas(
  proposed: number,
  { specReplicas: currentReplicas }: Scale,
  { hpa, memory, config, nowMs }: DecisionInput,
): LimitedReplicas {
  const { behavior, maxReplicas } = hpa.spec;
  const range = { currentReplicas, minReplicas: minReplicasOf(hpa), maxReplicas };
  const windowMs = config.downscaleStabilizationMs;
  const { recommendations, ...stabilization } = behavior
    ? stabilizeWithBehavior({ proposed, currentReplicas }, memory.recommendations, {
        scaleUpWindowMs: windowOf(behavior.scaleUp, 0),
        scaleDownWindowMs: windowOf(behavior.scaleDown, windowMs),
        nowMs,
      })
    : stabilizeWithoutBehavior(proposed, memory.recommendations, { windowMs, nowMs });
  const limit = behavior
    ? policyLimit(stabilization.replicas, range, { behavior, memory, nowMs })
    : defaultLimit(stabilization.replicas, range);
  const { reason, message } = stabilization;
  return {
    stabilization,
    limit,
    conditions: [
      { type: 'AbleToScale', isTrue: true, reason, message },
      {
        type: 'ScalingLimited',
        isTrue: limit.replicas !== stabilization.replicas,
        reason: limit.reason,
        message: limit.message,
      },
    ],
    memory: { ...memory, recommendations },
  };
}

/** Of the HPA where it has one; scaling down, the controller's, in whole seconds. */
function windowOf(
  rules: { readonly stabilizationWindowSeconds?: number } | undefined,
  otherwiseMs: number,
): number {
  const seconds = rules?.stabilizationWindowSeconds;
  return seconds === undefined ? Math.trunc(otherwiseMs / 1000) * 1000 : seconds * 1000;
}
