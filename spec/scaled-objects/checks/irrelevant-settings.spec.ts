import { expect } from 'chai';
import { irrelevantSettings } from '#lib/scaled-objects/checks/irrelevant-settings.ts';

const POLLING =
  'PollingInterval is configured but is not relevant. PollingInterval is only relevant when minReplicaCount = 0 or idleReplicaCount = 0 or useCachedMetrics is enabled';
const COOLDOWN =
  'CooldownPeriod is configured but is not relevant. CooldownPeriod is only relevant when minReplicaCount = 0 or idleReplicaCount = 0';

describe('irrelevantSettings', () => {
  for (const [spec, told] of [
    [{ minReplicaCount: 1, pollingInterval: 10, cooldownPeriod: 10 }, [POLLING, COOLDOWN]],
    [{ minReplicaCount: 2, idleReplicaCount: 1, pollingInterval: 10 }, [POLLING]],
    [{ minReplicaCount: 2, idleReplicaCount: 0, pollingInterval: 10, cooldownPeriod: 10 }, []],
    [{ pollingInterval: 10, cooldownPeriod: 10 }, []],
    [{ minReplicaCount: 1, pollingInterval: 10, triggers: [{ useCachedMetrics: true }] }, []],
    [{ minReplicaCount: 1 }, []],
  ] as const)
    it(`are ${told.length} of ${JSON.stringify(spec)}`, () => {
      const object = { metadata: { name: 'web' }, spec: { triggers: [], ...spec } };
      expect(irrelevantSettings(object as never)).to.deep.equal(told);
    });
});
