import { expect } from 'chai';
import type { Scale } from '#lib/control/scale-client.ts';
import { ScaleCache } from '#lib/scaled-objects/metrics/scale-cache.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { REPLICA_SET, REPLICA_SETS, refuseScales, replicaSet } from '#spec/support/replica-set-target.ts';
import { startScaledObjectsCluster } from '#spec/support/scaled-objects-cluster.ts';

const target = { ...REPLICA_SET, namespace: 'default' };

const ABSENT =
  'metric:s0-metric-api-value encountered error: error requesting metrics endpoint: /absent: api returned 404';

describe('ScaleCache', () => {
  it('provides the replicas of a target of another kind for a fallback', async () => {
    await using cluster = await startScaledObjectsCluster();
    const metric = 's0-metric-api-value';
    await replicaSet(cluster, 6);
    await cluster.scaledObject('web', {
      scaleTargetRef: REPLICA_SET,
      fallback: { failureThreshold: 1, replicas: 2, behavior: 'currentReplicas' },
      triggers: [cluster.trigger('/absent')],
    });
    await cluster.lead();
    await cluster.untilMet(() => cluster.external(metric, 'web') === ABSENT);
    await cluster.elapse(16);
    await cluster.untilMet(() => cluster.external(metric, 'web') === '30');
    await cluster.api.patch(`${REPLICA_SETS}/web`, 'merge', { spec: { replicas: 8 } });
    await cluster.elapse(16);
    await cluster.untilMet(() => cluster.external(metric, 'web') === '40');
    refuseScales(cluster);
    await cluster.elapse(16);
    await cluster.untilMet(() => cluster.external(metric, 'web') === ABSENT);
  });

  it('refreshes a scale at requests of HPAs while sources with a polling interval of an hour fail', async () => {
    await using cluster = await startScaledObjectsCluster();
    await replicaSet(cluster, 2);
    await cluster.scaledObject('web', {
      ...{ scaleTargetRef: REPLICA_SET, pollingInterval: 3600 },
      fallback: { failureThreshold: 0, replicas: 2, behavior: 'currentReplicas' },
      triggers: [cluster.trigger('/absent', { useCachedMetrics: true })],
    });
    await cluster.lead();
    const reported = () => cluster.external('s0-metric-api-value', 'web');
    await cluster.untilMet(() => reported() === '10');
    await cluster.api.patch(`${REPLICA_SETS}/web`, 'merge', { spec: { replicas: 20 } });
    for (let sync = 0; sync < 3; sync++) {
      await cluster.elapse(15);
      reported();
    }
    await cluster.untilMet(() => reported() === '100');
    expect(cluster.requested('/absent')).to.equal(1);
    await cluster.elapse(130); // no requests meanwhile
    expect(reported()).to.equal(ABSENT);
    await cluster.untilMet(() => reported() === '100');
  });

  it('reads one at a time, and has no value of another target or an expired one', async () => {
    const clock = new ManualClock();
    const requested: ((scale: Scale) => void)[] = [];
    using read = new ScaleCache({
      clock,
      scales: { get: () => new Promise((reported) => requested.push(reported)) },
    });
    read.read('default/web', target);
    read.read('default/web', target);
    expect(requested).to.have.lengthOf(1);
    expect(read.replicas('default/web', target, 30_000)).to.equal(undefined);
    requested[0]?.({ specReplicas: 3 } as Scale);
    await clock.advance(44_000);
    expect(read.replicas('default/web', target, 30_000)).to.equal(3);
    expect(read.replicas('default/web', { ...target, name: 'other' }, 30_000)).to.equal(undefined);
    expect(read.replicas('default/other', target, 30_000)).to.equal(undefined);
    await clock.advance(45_999);
    expect(read.replicas('default/web', target, 30_000)).to.equal(3);
    await clock.advance(1);
    expect(read.replicas('default/web', target, 30_000)).to.equal(undefined);
    expect(read.replicas('default/web', target, 60_000)).to.equal(3);
    expect(read.replicas('default/web', target, 1000)).to.equal(undefined);
  });

  it('discards a response for a deleted owner', async () => {
    const clock = new ManualClock();
    const { promise, resolve } = Promise.withResolvers<Scale>();
    using read = new ScaleCache({ clock, scales: { get: () => promise } });
    read.read('default/web', target);
    read.delete('default/web');
    resolve({ specReplicas: 3 } as Scale);
    await clock.advance(1);
    expect(read.replicas('default/web', target, 30_000)).to.equal(undefined);
  });
});
