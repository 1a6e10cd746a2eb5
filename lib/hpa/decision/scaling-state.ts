import type { HpaBehavior, ScalingRules } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';

/**
 * What is remembered of an HPA from one decision to the next.
 *
 * Entries keep their places: one that is too old to count is overwritten where it stands, so lists grow no longer than
 * what a window holds.
 */
export interface HpaMemory {
  /** What was recommended before stabilization and limits. */
  readonly recommendations: readonly Recommendation[];
  readonly scaleUpEvents: readonly ScaleEvent[];
  readonly scaleDownEvents: readonly ScaleEvent[];
}

export interface Recommendation {
  readonly replicas: number;
  readonly atMs: number;
}

/** A change of the scale by this controller. */
export interface ScaleEvent {
  /** By how many replicas; positive both ways. */
  readonly change: number;
  readonly atMs: number;
}

/** Nothing is known of the HPA yet. */
export const NO_MEMORY: HpaMemory = { recommendations: [], scaleUpEvents: [], scaleDownEvents: [] };

/** Puts an entry into the place of the last one that is too old, or at the end. */
export function remember<Entry>(
  entries: readonly Entry[],
  entry: Entry,
  isTooOld: (entry: Entry) => boolean,
): readonly Entry[] {
  const place = entries.findLastIndex(isTooOld);
  return place < 0 ? [...entries, entry] : entries.with(place, entry);
}

/** Remembers that the scale was changed, for as long as a policy may ask; without `behavior` none does. */
export function rememberScaling(
  memory: HpaMemory,
  { from, to }: { readonly from: number; readonly to: number },
  { behavior, nowMs }: { readonly behavior: HpaBehavior | undefined; readonly nowMs: number },
): HpaMemory {
  if (!behavior) return memory;
  const event = { change: Math.abs(to - from), atMs: nowMs };
  const isTooOld = (rules: ScalingRules | undefined) => {
    const startMs = nowMs - longestPeriodMs(rules);
    return ({ atMs }: ScaleEvent): boolean => atMs < startMs;
  };
  return to > from
    ? { ...memory, scaleUpEvents: remember(memory.scaleUpEvents, event, isTooOld(behavior.scaleUp)) }
    : { ...memory, scaleDownEvents: remember(memory.scaleDownEvents, event, isTooOld(behavior.scaleDown)) };
}

function longestPeriodMs(rules: ScalingRules | undefined): number {
  return (
    (rules?.policies ?? []).reduce((longest, { periodSeconds }) => Math.max(longest, periodSeconds), 0) * 1000
  );
}

/** Whether a moment lies before a window that ends now; one of no length holds nothing. */
export function isBeforeWindow(atMs: number, windowMs: number, nowMs: number): boolean {
  return windowMs === 0 || atMs < nowMs - windowMs;
}

/** Whether a moment lies inside of a window that ends now; one of no length holds nothing. */
export function isInWindow(atMs: number, windowMs: number, nowMs: number): boolean {
  return atMs > nowMs - windowMs;
}
