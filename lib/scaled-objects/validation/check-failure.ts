/** Rules of the checks, by the names that the series of the webhook has for them. */
export type Rule =
  | 'other-scaled-object'
  | 'other-scaled-object-hpa'
  | 'other-hpa'
  | 'transfer-ownership-missing-hpa-name'
  | 'missing-requests'
  | 'scale-to-zero-requirements-not-met'
  | 'incorrect-replicas'
  | 'incorrect-fallback'
  | 'name-too-long'
  | 'hpa-name-too-long'
  | 'incorrect-triggers'
  | 'scaling-modifiers'
  | 'scaling-modifiers-fallback';

/** A check that an object does not pass: at which step, and why. */
export class CheckFailure extends Error {
  override readonly name = 'CheckFailure';
  /** Why, without the step. */
  readonly reason: string;
  /** `undefined` for what no check of the object alone finds out. */
  readonly rule: Rule | undefined;

  constructor(
    step: string,
    reason: string,
    options: { readonly cause?: unknown; readonly rule?: Rule } = {},
  ) {
    super(`${step}: ${reason}`, 'cause' in options ? { cause: options.cause } : {});
    this.reason = reason;
    this.rule = options.rule;
  }
}

/** What the condition says of the step that an object does not pass. */
export const STEPS = {
  size: 'ScaledObject cannot be read',
  target: "ScaledObject doesn't have correct scaleTargetRef specification",
  replicas: "ScaledObject doesn't have correct Idle/Min/Max Replica Counts specification",
  triggers: "ScaledObject doesn't have correct triggers specification",
  hpa: 'failed to ensure HPA is correctly created for ScaledObject',
  deletePausedHpa: 'failed to delete HPA for paused ScaledObject',
  pausedReplicas: 'failed to scale target to paused replica count',
} as const;
