/** Values of the label `reason` of the webhook's series, as in KEDA. */
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
