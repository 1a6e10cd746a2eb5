import { expect } from 'chai';
import { Registry } from 'prom-client';
import { ScaleClient } from '#lib/control/scale-client.ts';
import { ScaleLog } from '#lib/control/scale-log.ts';
import { leadTogether } from '#lib/control/subsystem.ts';
import { hpaSubsystem } from '#lib/hpa/hpa-subsystem.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import { type ApiFault, forRequests } from '#simulator/api-server/faults.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { HPA_OPTIONS, startHpaCluster } from '#spec/support/hpa-cluster.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

describe('hpaSubsystem', () => {
  it('throws when its controller cannot be composed, and ends when it no longer leads', async () => {
    await using stack = new AsyncDisposableStack();
    const server = stack.use(await startSimulatedApiServer());
    const { clock } = server;
    const logger = new RecordingLogger();
    const client = stack.use(new ApiClient({ access: await server.access(), clock, userAgent: 'spec/1' }));
    const mapper = new RestMapper({ api: client, clock });
    const informers = new SharedInformers({ client, mapper, clock, logger });
    const scaleLog = new ScaleLog({ logger });
    const subsystem = hpaSubsystem({
      ...{ client, mapper, informers, scaleLog, clock, logger, options: HPA_OPTIONS },
      scales: new ScaleClient({ api: client, mapper, clock, scaleLog }),
      ...{ registry: new Registry(), events: { record: () => {} } },
    });
    await informers[Symbol.asyncDispose]();
    expect(await errorOf(subsystem.lead(new AbortController().signal))).to.equal('informers are closed');
    await leadTogether([subsystem], AbortSignal.abort(new Error('not the leader any more')));
  });

  for (const [late, other] of [
    ['pods', 'horizontalpodautoscalers'],
    ['horizontalpodautoscalers', 'pods'],
  ] as const)
    it(`is ready to lead only once ${late} are listed`, async () => {
      await using cluster = await startHpaCluster();
      const listing = Promise.withResolvers<void>();
      let isListed = false;
      const waits: ApiFault = {
        async serve(_, { next }) {
          await listing.promise;
          await next();
        },
      };
      const notes: ApiFault = {
        async serve(_, { next }) {
          await next();
          isListed = true;
        },
      };
      cluster.setFaults(
        forRequests({ verb: 'list', resource: late }, waits),
        forRequests({ verb: 'watch', resource: other }, notes),
        forRequests({ verb: 'list', resource: other }, notes),
      );
      const leading = cluster.lead();
      await cluster.passes(() => isListed);
      for (let round = 0; round < 20; round++) await cluster.passes(() => true);
      expect(cluster.running.subsystem.isSynced).to.equal(false);
      listing.resolve();
      await leading;
      expect(cluster.running.subsystem.isSynced).to.equal(true);
    });
});
