import type { TriggerSpec } from '../objects/scaled-object.ts';

const UNCACHED = ['cpu', 'memory', 'cron'];

/** The rule that the triggers of a ScaledObject or ScaledJob break among themselves; `undefined` where they break none. */
export function brokenByTriggers(triggers: readonly TriggerSpec[]): string | undefined {
  if (triggers.length === 0) return 'no triggers defined in the ScaledObject/ScaledJob';
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
