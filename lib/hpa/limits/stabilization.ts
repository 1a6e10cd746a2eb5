import type { Recommendation } from '../decision/scaling-state.ts';

/** What earlier recommendations make of a new one. */
export interface Stabilization {
  /** What is recommended after all. */
  readonly replicas: number;
  /** The recommendation to follow before stabilization. */
  readonly proposed: number;
  /** The earlier recommendation that changed the outcome. */
  readonly heldBy?: Recommendation;
  readonly scaleUpWindowMs: number;
  readonly scaleDownWindowMs: number;
  /** Reason and message of the condition AbleToScale. */
  readonly reason: string;
  readonly message: string;
  /** The recommendations to remember, this one among them. */
  readonly recommendations: readonly Recommendation[];
}

/** What is said where stabilization changed nothing. */
export const NOT_STABILIZED = {
  reason: 'ReadyForNewScale',
  message: 'recommended size matches current size',
} as const;

/** What is said where load has fallen, and was higher not long ago. */
export const SCALE_DOWN_STABILIZED = {
  reason: 'ScaleDownStabilized',
  message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
} as const;

/** What is said where load has risen, and was lower not long ago. */
export const SCALE_UP_STABILIZED = {
  reason: 'ScaleUpStabilized',
  message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
} as const;

/** Whether a moment lies before a window that ends now; one of no length holds nothing. */
export function isBeforeWindow(atMs: number, windowMs: number, nowMs: number): boolean {
  return windowMs === 0 || atMs < nowMs - windowMs;
}

/** Whether a moment lies inside of a window that ends now; one of no length holds nothing. */
export function isInWindow(atMs: number, windowMs: number, nowMs: number): boolean {
  return atMs > nowMs - windowMs;
}
