import { expect } from 'chai';
import type { ApiFault } from '#simulator/api-server/faults.ts';
import { type HpaCluster, PATHS, startHpaCluster } from '#spec/support/hpa-cluster.ts';

/** Longer than what was read for one HPA may be used for others. */
const BUSY_MS = 20_000;

describe('actOnHpa, after others were acted on for long', () => {
  let cluster: HpaCluster;

  /** One HPA is being acted on, and the other, which is to have 4 replicas, waits for that. */
  beforeEach(async () => {
    cluster = await startHpaCluster();
    const writing = Promise.withResolvers<void>();
    cluster.setFaults(lateScaleOf('slow', writing.resolve));
    for (const name of ['slow', 'web']) {
      await cluster.deployment(name, 2);
      cluster.queue(name, '40');
    }
    await cluster.hpa('slow');
    await cluster.lead({ concurrentSyncs: 1, syncPeriodMs: 3_600_000 });
    await cluster.passes(() => cluster.metrics.asked.some((path) => path.endsWith('/slow')));
    await writing.promise;
    await cluster.hpa('web');
    await cluster.passes(() => cluster.metrics.asked.some((path) => path.endsWith('/web')));
    await cluster.passes(() => true);
    expect(await cluster.replicas('web')).to.equal(2);
  });
  const slowIsWritten = async () => {
    await cluster.passes(async () => (await cluster.replicas('slow')) === 4, 500);
    await cluster.elapse(2);
  };
  afterEach(() => cluster[Symbol.asyncDispose]());

  it('decides by the metrics of then', async () => {
    cluster.queue('web', '30');
    await slowIsWritten();
    await cluster.passes(async () => (await cluster.get('web')).status?.desiredReplicas !== undefined);
    expect([await cluster.replicas('slow'), await cluster.replicas('web')]).to.deep.equal([4, 3]);
  });

  it('decides by the HPA of then', async () => {
    await cluster.api.patch(`${PATHS.hpas}/web`, 'merge', { spec: { maxReplicas: 3 } });
    await slowIsWritten();
    await cluster.passes(async () => (await cluster.replicas('web')) !== 2);
    expect(await cluster.replicas('web')).to.equal(3);
    expect(cluster.events.filter((event) => event.startsWith('web Succ'))).to.have.lengthOf(1);
  });

  it('does nothing for an HPA that is gone', async () => {
    await cluster.api.delete(`${PATHS.hpas}/web`);
    await slowIsWritten();
    expect([await cluster.replicas('slow'), await cluster.replicas('web')]).to.deep.equal([4, 2]);
    expect(cluster.logger.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });
});

describe('actOnHpa, while the scale is read for long', () => {
  for (const [what, change, expected] of [
    ['scales nothing for an HPA that is deleted meanwhile', undefined, 2],
    ['scales by the bounds that its user sets meanwhile', { spec: { maxReplicas: 3 } }, 3],
  ] as const) {
    it(what, async () => {
      await using cluster = await startHpaCluster();
      const reading = Promise.withResolvers<void>();
      cluster.setFaults(lateScaleOf('web', reading.resolve, 'get'));
      await cluster.deployment('web', 2);
      cluster.queue('web', '40');
      await cluster.hpa('web');
      await cluster.lead({ syncPeriodMs: 3_600_000 });
      await cluster.passes(() => cluster.metrics.asked.some((path) => path.endsWith('/web')));
      await reading.promise;
      const path = `${PATHS.hpas}/web`;
      await (change ? cluster.api.patch(path, 'merge', change) : cluster.api.delete(path));
      const readAtMs = cluster.clock.monotonicMs() + BUSY_MS;
      await cluster.passes(() => cluster.clock.monotonicMs() > readAtMs, 500);
      await cluster.passes(async () => !change || (await cluster.replicas('web')) !== 2, 500);
      expect(await cluster.replicas('web')).to.equal(expected);
      expect(cluster.events.filter((event) => event.startsWith('web Succ'))).to.have.lengthOf(change ? 1 : 0);
    });
  }
});

/** The scale of one is written, or read, late. */
function lateScaleOf(name: string, onWriting: () => void, late: 'update' | 'get' = 'update'): ApiFault {
  return {
    async serve({ verb, target, signal }, { clock, next }) {
      const isMeant = verb === late && target.isResource && target.subresource === 'scale';
      if (isMeant && target.name === name) {
        const slept = clock.sleep(BUSY_MS, { signal });
        onWriting();
        await slept;
      }
      await next();
    },
  };
}
