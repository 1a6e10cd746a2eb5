import type { TriggerSpec } from '../objects/scaled-object.ts';

const UNCACHED = ['cpu', 'memory', 'cron'];
/** Of one object; KEDA has no limit. One with more is refused, and its triggers are not polled. */
export const MAX_TRIGGERS = 100;

/** The rule that the triggers of a ScaledObject or ScaledJob break among themselves; `undefined` where they break none. */
export function brokenByTriggers(triggers: readonly TriggerSpec[]): string | undefined {
  if (triggers.length === 0) return 'no triggers defined in the ScaledObject/ScaledJob';
  if (triggers.length > MAX_TRIGGERS)
    return `the ScaledObject/ScaledJob has ${triggers.length} triggers, maximum allowed is ${MAX_TRIGGERS}`;
  const names = new Set<string>();
  for (const { name, type, useCachedMetrics } of triggers) {
    if (name && names.has(name))
      return `triggerName "${name}" is defined multiple times in the ScaledObject/ScaledJob, but it must be unique`;
    if (name) names.add(name);
    if (useCachedMetrics && UNCACHED.includes(type))
      return `property "useCachedMetrics" is not supported for "${type}" scaler`;
  }
  return undefined;
}
