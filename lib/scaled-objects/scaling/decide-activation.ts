/** Times are milliseconds since the Unix epoch. */
export interface DecisionInput {
  readonly replicas: number;
  readonly minReplicas: number | undefined;
  readonly idleReplicas: number | undefined;
  readonly isActive: boolean;
  /** Whether a trigger fails and no fallback applies. */
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

export interface Decision {
  readonly action: 'activate' | 'deactivate' | 'raise' | 'none';
  /** Replicas after the action. */
  readonly replicas: number;
  readonly active: 'ScalerActive' | 'ForcedActive' | 'ScalerNotActive' | 'ScalerCooldown';
  readonly ready: 'Ready' | 'PartialTriggerError' | 'TriggerError';
  /** Whether to set `lastActiveTime` to now. */
  readonly isActiveNow: boolean;
  /** When the same input leads to another decision; `undefined` if it never does. */
  readonly againAtMs?: number | undefined;
}

/** Decides activation: 0 or idle replicas, or at least the minimum. The HPA scales beyond that. */
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
  // As in KEDA, a failing trigger stops the renewal of lastActiveTime by another one.
  if (hasError) return { ...stay, active, ready: 'PartialTriggerError', isActiveNow: false };
  return { ...stay, active, ready: 'Ready', isActiveNow: true };
}

function decideInactive(input: DecisionInput, stay: Stay): Decision {
  const { replicas, idleReplicas, minReplicas = 0, hasError, hasFallback } = input;
  const base = { ...stay, active: 'ScalerNotActive', isActiveNow: false } as const;
  // An unknown value is not 0: never scale down. With a fallback, wait for it; without one, report the error.
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

/** The next action for an object, for the page and the debug endpoint. */
export interface NextStep {
  readonly what: string;
  /** When, if nothing changes; `undefined` if that depends on triggers or users. */
  readonly atMs: number | undefined;
}

/** Describes the next action and its condition. */
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
        ? 'scale out once the scale-out is no longer paused'
        : 'leave the replicas to the HPA while a trigger is active',
    );
  if (hasError) return later('do nothing until a trigger responds');
  if (isResting) return later(`scale to ${Math.max(minReplicas, 1)} once a trigger is active`);
  if (isScaleInPaused && floor < replicas)
    return later(`scale to ${floor} once the scale-in is no longer paused`);
  return later('leave the replicas to the HPA');
}
