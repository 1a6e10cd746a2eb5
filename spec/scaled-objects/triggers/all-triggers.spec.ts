import { expect } from 'chai';
import { allTriggers } from '#lib/scaled-objects/triggers/all-triggers.ts';
import { openTriggerSources } from '#lib/scaled-objects/triggers/trigger-sources.ts';
import { TriggerTypes } from '#lib/scaled-objects/triggers/trigger-types.ts';
import { systemClock } from '#lib/time/system-clock.ts';
import { startEchoingSources } from '#spec/support/echoing-sources.ts';
import { toldOfTrigger } from '#spec/support/told-of-trigger.ts';

describe('allTriggers', function () {
  this.timeout(30_000);

  it('asks no host that must not be asked, and says by which flag it may be', async () => {
    await using echoing = await startEchoingSources('do-not-tell', () => '');
    await using opened = openTriggerSources({
      ...{ clock: systemClock, userAgent: 'spec', allowedHosts: [], timeoutMs: 10_000 },
      listPods: async () => [],
    });
    const types = new TriggerTypes(allTriggers(opened));
    for (const [name, source] of Object.entries(echoing.sources)) {
      const told = await toldOfTrigger(source, { types });
      expect(told, name).to.match(/127\.0\.0\.1 must not be asked: it leads to a loopback.* --allowed-hosts/);
    }
  });
});
