import { expect } from 'chai';
import { type ApiFault, forRequests } from '#simulator/api-server/faults.ts';
import { startHpaCluster } from '#spec/support/hpa-cluster.ts';

describe('hpaSubsystem', () => {
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
