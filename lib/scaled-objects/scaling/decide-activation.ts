/** What a decision is made of; times are milliseconds since the Unix epoch. */
export interface DecisionInput {
  readonly replicas: number;
  readonly minReplicas: number | undefined;
  readonly idleReplicas: number | undefined;
  readonly isActive: boolean;
  /** Whether a trigger fails that no fallback stands in for. */
  readonly hasError: boolean;
  readonly hasFallback: boolean;
  readonly isForced: boolean;
  readonly isScaleInPaused: boolean;
  readonly isScaleOutPaused: boolean;
  readonly nowMs: number;
  readonly createdAtMs: number;
  readonly lastActiveAtMs: number | undefined;
  readonly cooldownMs: number;
  readonly initialCooldownMs: number;
}

/** What is to be done, and what is to be told. */
export interface Decision {
  readonly action: 'activate' | 'deactivate' | 'raise' | 'none';
  /** How many replicas there are to be then. */
  readonly replicas: number;
  readonly active: 'ScalerActive' | 'ForcedActive' | 'ScalerNotActive' | 'ScalerCooldown';
  readonly ready: 'Ready' | 'PartialTriggerError' | 'TriggerError';
  /** Whether now is the last time that a trigger was active. */
  readonly isActiveNow: boolean;
  /** When the same will lead to something else; `undefined` where it will not. */
  readonly againAtMs?: number | undefined;
}

/** Decides between zero, or idle, and more: what lies above is the HPA's. */
export function decide(input: DecisionInput): Decision {
  const { replicas } = input;
  const stay = { action: 'none', replicas } as const;
  return input.isActive || input.isForced ? decideActive(input, stay) : decideInactive(input, stay);
}

type Stay = Pick<Decision, 'action' | 'replicas'>;

function decideActive(input: DecisionInput, stay: Stay): Decision {
  const { replicas, idleReplicas, minReplicas = 0, isActive, hasError, isScaleOutPaused } = input;
  const active = isActive ? 'ScalerActive' : 'ForcedActive';
  const isIdle = replicas === 0 || (idleReplicas !== undefined && replicas < minReplicas);
  if (isIdle) {
    if (isScaleOutPaused) return { ...stay, active, ready: 'Ready', isActiveNow: false };
    const after = Math.max(minReplicas, 1);
    return { action: 'activate', replicas: after, active, ready: 'Ready', isActiveNow: true };
  }
  // A trigger that fails must not keep alive what another one has kept alive so far.
  if (hasError) return { ...stay, active, ready: 'PartialTriggerError', isActiveNow: false };
  return { ...stay, active, ready: 'Ready', isActiveNow: true };
}

function decideInactive(input: DecisionInput, stay: Stay): Decision {
  const { replicas, idleReplicas, minReplicas = 0, hasError, hasFallback } = input;
  const base = { ...stay, active: 'ScalerNotActive', isActiveNow: false } as const;
  // What cannot be known is not zero: with a fallback it is waited for, without one it is told.
  if (hasError) return { ...base, ready: hasFallback ? 'Ready' : 'TriggerError' };
  const floor = idleReplicas ?? minReplicas;
  const isAbove = idleReplicas === undefined ? minReplicas === 0 && replicas > 0 : replicas > idleReplicas;
  if (isAbove) return scaleDown(input, floor);
  if (idleReplicas === undefined && replicas < minReplicas)
    return { ...base, action: 'raise', replicas: minReplicas, ready: 'Ready' };
  return { ...base, ready: 'Ready' };
}

function scaleDown(input: DecisionInput, floor: number): Decision {
  const { replicas, nowMs, createdAtMs, lastActiveAtMs, cooldownMs, initialCooldownMs, isScaleInPaused } =
    input;
  const base = { ready: 'Ready', isActiveNow: false } as const;
  if (isScaleInPaused) return { ...base, action: 'none', replicas, active: 'ScalerNotActive' };
  const allowedAtMs =
    lastActiveAtMs === undefined ? createdAtMs + initialCooldownMs : lastActiveAtMs + cooldownMs;
  if (allowedAtMs < nowMs)
    return { ...base, action: 'deactivate', replicas: floor, active: 'ScalerNotActive' };
  return { ...base, action: 'none', replicas, active: 'ScalerCooldown', againAtMs: allowedAtMs + 1 };
}

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
