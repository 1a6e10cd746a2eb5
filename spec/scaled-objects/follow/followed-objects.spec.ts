import { expect } from 'chai';
import { PATHS, startScaledObjectsCluster } from '#spec/support/scaled-objects-cluster.ts';

describe('followObjects', () => {
  it('follows objects of some namespaces alone, where it is told to', async () => {
    await using cluster = await startScaledObjectsCluster({ namespaces: ['default', 'kube-system'] });
    await cluster.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'other' },
    });
    cluster.source.set('/queue', 1);
    await cluster.deployment('web', 1);
    await cluster.scaledObject('web', { triggers: [cluster.trigger('/queue')] });
    const elsewhere = PATHS.scaledObjects.replace('/default/', '/other/');
    await cluster.create(elsewhere, {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name: 'web' } },
      spec: { scaleTargetRef: { name: 'web' }, triggers: [cluster.trigger('/queue')] },
    });
    await cluster.lead();
    await cluster.holds(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
    await cluster.elapse(5);
    const { metadata, status } = await cluster.get(`${elsewhere}/web`);
    expect([metadata.finalizers, status]).to.deep.equal([undefined, undefined]);
  });
});
