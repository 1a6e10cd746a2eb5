import { expect } from 'chai';
import type { ScaledObject } from '#lib/scaled-objects/api/scaled-object.ts';
import { compileScaledObject } from '#lib/scaled-objects/preparation/prepared-scaled-object.ts';
import { targetReading } from '#lib/scaled-objects/scaling/scale-target.ts';
import { REPLICA_SET, REPLICA_SETS, refuseScales, replicaSet } from '#spec/support/replica-set-target.ts';
import { startScaledObjectsCluster } from '#spec/support/scaled-objects-cluster.ts';

describe('targetReading', () => {
  it('stops while the replicas of a target cannot be read, reports that, and continues afterwards', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 0);
    await replicaSet(cluster, 3);
    refuseScales(cluster);
    await cluster.scaledObject('web', {
      scaleTargetRef: REPLICA_SET,
      ...{ cooldownPeriod: 0, triggers: [cluster.trigger('/queue')] },
    });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Ready')).startsWith('False'));
    expect(await cluster.condition('web', 'Ready')).to.match(
      /^False ErrorGettingCurrentReplicas Error getting current replicas count for ScaleTarget: .*Forbidden/,
    );
    expect(await cluster.condition('web', 'Active')).to.equal('Unknown');
    const replicas = async () => (await cluster.get(`${REPLICA_SETS}/web`)).spec.replicas;
    await cluster.elapse(40);
    expect(await replicas()).to.equal(3);
    cluster.setFaults();
    await cluster.elapse(16);
    await cluster.untilMet(async () => (await replicas()) === 0);
    await cluster.untilMet(async () => (await cluster.condition('web', 'Ready')).startsWith('True'));
  });

  it('reads the scale if the kind of the target differs from the status', async () => {
    const served = { group: 'apps', version: 'v1', namespaced: true };
    const deployments = { ...served, kind: 'Deployment', plural: 'deployments' };
    const statefulSets = { ...served, kind: 'StatefulSet', plural: 'statefulsets' };
    const reading = async (kind: string) => {
      const object: ScaledObject = {
        metadata: { name: 'web', namespace: 'default' },
        spec: { scaleTargetRef: { name: 'web', kind }, triggers: [] },
        status: {
          scaleTargetKind: 'apps/v1.Deployment',
          scaleTargetGVKR: { group: 'apps', version: 'v1', kind: 'Deployment', resource: 'deployments' },
        },
      };
      return await targetReading(object, {
        prepared: compileScaledObject(object),
        workloads: { find: () => ({ replicas: 3 }) },
        scales: { get: async () => ({ specReplicas: 3, resource: statefulSets }) },
        ...{ events: { normal() {}, warning() {} }, signal: new AbortController().signal },
      } as never);
    };
    expect(await reading('Deployment')).to.deep.equal({ replicas: 3, resource: deployments });
    expect(await reading('StatefulSet')).to.deep.equal({ replicas: 3, resource: statefulSets });
  });
});
