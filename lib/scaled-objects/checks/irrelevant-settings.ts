import type { ScaledObject } from '../objects/scaled-object.ts';

const RELEVANT = 'minReplicaCount = 0 or idleReplicaCount = 0';

/** What an object says that changes nothing: an HPA alone scales what never rests. */
export function irrelevantSettings({ spec }: ScaledObject): readonly string[] {
  const { minReplicaCount = 0, idleReplicaCount, pollingInterval, cooldownPeriod, triggers } = spec;
  if (minReplicaCount === 0 || idleReplicaCount === 0) return [];
  const isCached = triggers.some(({ useCachedMetrics }) => useCachedMetrics);
  return [
    ...(pollingInterval !== undefined && !isCached
      ? [
          `PollingInterval is configured but is not relevant. PollingInterval is only relevant when ${RELEVANT} or useCachedMetrics is enabled`,
        ]
      : []),
    ...(cooldownPeriod !== undefined
      ? [`CooldownPeriod is configured but is not relevant. CooldownPeriod is only relevant when ${RELEVANT}`]
      : []),
  ];
}
