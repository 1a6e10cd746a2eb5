/** Steps in messages of conditions; the texts are KEDA's, except for `size`. */
export const STEPS = {
  size: 'Cannot read ScaledObject',
  target: "ScaledObject doesn't have correct scaleTargetRef specification",
  replicas: "ScaledObject doesn't have correct Idle/Min/Max Replica Counts specification",
  triggers: "ScaledObject doesn't have correct triggers specification",
  hpa: 'failed to ensure HPA is correctly created for ScaledObject',
  deletePausedHpa: 'failed to delete HPA for paused ScaledObject',
  pausedReplicas: 'failed to scale target to paused replica count',
} as const;

/** The step of each rule. The rules are values of the label `reason` of the webhook's series, as in KEDA. */
const RULES = {
  'other-scaled-object': STEPS.target,
  'other-scaled-object-hpa': STEPS.hpa,
  'other-hpa': STEPS.hpa,
  'transfer-ownership-missing-hpa-name': STEPS.hpa,
  'missing-requests': STEPS.triggers,
  'scale-to-zero-requirements-not-met': STEPS.triggers,
  'incorrect-replicas': STEPS.replicas,
  'incorrect-fallback': STEPS.triggers,
  'name-too-long': STEPS.target,
  'hpa-name-too-long': STEPS.hpa,
  'incorrect-triggers': STEPS.triggers,
  'scaling-modifiers': STEPS.triggers,
  'scaling-modifiers-fallback': STEPS.triggers,
} as const;

export type Rule = keyof typeof RULES;

/** An object fails a check. The message has the step and the reason. */
export class CheckFailure extends Error {
  override readonly name = 'CheckFailure';
  /** The reason without the step. */
  readonly reason: string;
  /** `undefined` for a failure that the webhook does not check. */
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

/** The failure of an object that violates a rule. */
export function violation(
  rule: Rule,
  reason: string,
  options: { readonly cause?: unknown } = {},
): CheckFailure {
  return new CheckFailure(RULES[rule], reason, { ...options, rule });
}
