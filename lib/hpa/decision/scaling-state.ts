import type { HpaBehavior, ScalingRules } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';

/**
 * The state of an HPA between decisions.
 *
 * An outdated entry is overwritten at its index, so lists do not grow beyond the entries of a window.
 */
export interface ScalingState {
  /** Recommendations before stabilization and limits. */
  readonly recommendations: readonly Recommendation[];
  readonly scaleUpEvents: readonly ScaleEvent[];
  readonly scaleDownEvents: readonly ScaleEvent[];
}

export interface Recommendation {
  readonly replicas: number;
  readonly atMs: number;
}

/** A scale change by this controller. */
export interface ScaleEvent {
  /** Number of replicas, positive in both directions. */
  readonly change: number;
  readonly atMs: number;
}

/** The state of a new HPA. */
export const EMPTY_STATE: ScalingState = { recommendations: [], scaleUpEvents: [], scaleDownEvents: [] };

/** Overwrites the last outdated entry, or appends. */
export function recordEntry<Entry>(
  entries: readonly Entry[],
  entry: Entry,
  isTooOld: (entry: Entry) => boolean,
): readonly Entry[] {
  const index = entries.findLastIndex(isTooOld);
  return index < 0 ? [...entries, entry] : entries.with(index, entry);
}

/** Records a scale change for the longest period of the policies; without `behavior` none is needed. */
export function recordScaling(
  memory: ScalingState,
  { from, to }: { readonly from: number; readonly to: number },
  { behavior, nowMs }: { readonly behavior: HpaBehavior | undefined; readonly nowMs: number },
): ScalingState {
  if (!behavior) return memory;
  const event = { change: Math.abs(to - from), atMs: nowMs };
  const isTooOld = (rules: ScalingRules | undefined) => {
    const startMs = nowMs - maxPeriodMs(rules);
    return ({ atMs }: ScaleEvent): boolean => atMs < startMs;
  };
  return to > from
    ? { ...memory, scaleUpEvents: recordEntry(memory.scaleUpEvents, event, isTooOld(behavior.scaleUp)) }
    : {
        ...memory,
        scaleDownEvents: recordEntry(memory.scaleDownEvents, event, isTooOld(behavior.scaleDown)),
      };
}

/** The longest period of policies. */
export function maxPeriodMs(...rules: readonly (ScalingRules | undefined)[]): number {
  const periods = rules.flatMap((one) => one?.policies ?? []).map(({ periodSeconds }) => periodSeconds);
  return Math.max(0, ...periods) * 1000;
}

/** Whether a time is before a window that ends now; always true for a window of length 0. */
export function isBeforeWindow(atMs: number, windowMs: number, nowMs: number): boolean {
  return windowMs === 0 || atMs < nowMs - windowMs;
}

/** Whether a time is within a window that ends now; never for a window of length 0. */
export function isInWindow(atMs: number, windowMs: number, nowMs: number): boolean {
  return atMs > nowMs - windowMs;
}
