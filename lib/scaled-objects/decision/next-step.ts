import type { Decision, DecisionInput } from './decide.ts';

/** What a loop does next. */
export interface NextStep {
  readonly what: string;
  /** When, if nothing changes; `undefined` where that depends on triggers, or on people. */
  readonly atMs: number | undefined;
}

/** Puts into words what comes after a decision, and what it takes. */
export function nextStep(input: DecisionInput, decision: Decision): NextStep {
  const { idleReplicas, minReplicas = 0, isScaleOutPaused, isScaleInPaused, hasError } = input;
  const { active, replicas, againAtMs } = decision;
  const floor = idleReplicas ?? minReplicas;
  const isResting = replicas === 0 || (idleReplicas !== undefined && replicas <= idleReplicas);
  const later = (what: string): NextStep => ({ what, atMs: againAtMs });
  if (active === 'ScalerCooldown') return later(`scale to ${floor}, unless a trigger is active by then`);
  if (active === 'ScalerActive' || active === 'ForcedActive')
    return later(
      isResting && isScaleOutPaused
        ? 'scale out once that is no longer paused'
        : 'leave the replicas to the HPA for as long as a trigger is active',
    );
  if (hasError) return later('do nothing until a trigger responds');
  if (isResting) return later(`scale to ${Math.max(minReplicas, 1)} once a trigger is active`);
  if (isScaleInPaused && floor < replicas) return later(`scale to ${floor} once that is no longer paused`);
  return later('leave the replicas to the HPA');
}
