import type { Trigger } from '#lib/scaled-objects/triggers/trigger.ts';
import { openTriggerEnvironment } from '#lib/scaled-objects/triggers/trigger-environment.ts';
import { allTriggers } from '#lib/scaled-objects/triggers/trigger-registry.ts';
import { systemClock } from '#lib/time/clock.ts';

/** One trigger of each type, to inspect; none of them queries its source. */
export function everyTrigger(): readonly Trigger[] {
  return allTriggers(
    openTriggerEnvironment({
      ...{ clock: systemClock, userAgent: 'spec', allowedHosts: [], timeoutMs: 1000 },
      listPods: async () => [],
      listEndpoints: async () => [],
      findAddresses: undefined,
    }),
  );
}
