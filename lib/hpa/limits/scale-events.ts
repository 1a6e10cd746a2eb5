import type { HpaBehavior, ScalingRules } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { type HpaMemory, remember, type ScaleEvent } from '../objects/hpa-memory.ts';

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
