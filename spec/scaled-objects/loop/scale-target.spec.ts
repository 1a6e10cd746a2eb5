import { expect } from 'chai';
import { REPLICA_SET, REPLICA_SETS, refuseScales, replicaSet } from '#spec/support/replica-set-target.ts';
import { startScaledObjectsCluster } from '#spec/support/scaled-objects-cluster.ts';

describe('targetReading', () => {
  it('stops while the replicas of a target cannot be read, says so, and goes on when they can', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 0);
    await replicaSet(cluster, 3);
    refuseScales(cluster);
    await cluster.scaledObject('web', {
      scaleTargetRef: REPLICA_SET,
      ...{ cooldownPeriod: 0, triggers: [cluster.trigger('/queue')] },
    });
    await cluster.lead();
    await cluster.holds(async () => (await cluster.condition('web', 'Ready')).startsWith('False'));
    expect(await cluster.condition('web', 'Ready')).to.match(
      /^False ErrorGettingCurrentReplicas Error getting current replicas count for ScaleTarget: .*Forbidden/,
    );
    expect(await cluster.condition('web', 'Active')).to.equal('Unknown');
    const replicas = async () => (await cluster.get(`${REPLICA_SETS}/web`)).spec.replicas;
    await cluster.elapse(40);
    expect(await replicas()).to.equal(3);
    cluster.setFaults();
    await cluster.elapse(16);
    await cluster.holds(async () => (await replicas()) === 0);
    await cluster.holds(async () => (await cluster.condition('web', 'Ready')).startsWith('True'));
  });
});
