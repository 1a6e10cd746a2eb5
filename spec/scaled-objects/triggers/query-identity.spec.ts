import { expect } from 'chai';
import { prometheusTrigger } from '#lib/scaled-objects/triggers/databases/prometheus.ts';
import { metricsApiTrigger } from '#lib/scaled-objects/triggers/servers/metrics-api.ts';
import { systemClock } from '#lib/time/system-clock.ts';
import { planned } from '#spec/support/planned-trigger.ts';
import { triggerClients } from '#spec/support/trigger-clients.ts';

describe('queries that are asked once for all that ask the same', () => {
  const stack = new AsyncDisposableStack();
  const clients = stack.use(triggerClients());
  const triggers = {
    prometheus: {
      trigger: prometheusTrigger({ clients, clock: systemClock, timeoutMs: 3000 }),
      metadata: { serverAddress: 'http://127.0.0.1:9', query: 'up', threshold: '5', authModes: 'custom' },
    },
    'metrics-api': {
      trigger: metricsApiTrigger({
        ...{ clients, clock: systemClock, timeoutMs: 3000 },
        listEndpoints: async () => [],
      }),
      metadata: { url: 'http://127.0.0.1:9/', valueLocation: 'a', targetValue: '5', authMode: 'custom' },
    },
  };

  after(() => stack.disposeAsync());

  for (const [name, { trigger, metadata }] of Object.entries(triggers)) {
    const keyAs = async (tenant: string) => {
      const authentication = { customAuthHeader: 'X-Scope-OrgID', customAuthValue: tenant };
      return (await planned(trigger, { metadata, authentication })).query.key;
    };

    it(`of ${name} are those with the same headers, so that nobody gets the value of another tenant`, async () => {
      expect(await keyAs('tenant-a')).to.equal(await keyAs('tenant-a'));
      expect(await keyAs('tenant-a')).to.not.equal(await keyAs('tenant-b'));
      expect(await keyAs('tenant-a')).to.not.contain('tenant-a');
    });
  }
});
