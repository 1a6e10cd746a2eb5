import { expect } from 'chai';
import {
  PATHS,
  type ScaledObjectsCluster,
  startScaledObjectsCluster,
} from '#spec/support/scaled-objects-cluster.ts';

const CLUSTER_WIDE = '/apis/keda.sh/v1alpha1/clustertriggerauthentications';

describe('triggerAuthenticationController', () => {
  it('records when authentications are added, changed and deleted, and lists their users', async () => {
    await using cluster = await startScaledObjectsCluster();
    await authentication(cluster, 'TriggerAuthentication', 'own');
    await authentication(cluster, 'ClusterTriggerAuthentication', 'shared');
    for (const name of ['b', 'a'])
      await cluster.scaledObject(name, {
        triggers: [
          cluster.trigger('/queue', { authenticationRef: { name: 'own' } }),
          cluster.trigger('/queue', {
            authenticationRef: { name: 'shared', kind: 'ClusterTriggerAuthentication' },
          }),
        ],
      });
    await cluster.lead();
    const own = `${PATHS.authentications}/own`;
    await cluster.untilMet(async () => (await cluster.get(own)).status?.scaledobjects === 'a,b');
    await cluster.untilMet(
      async () => (await cluster.get(`${CLUSTER_WIDE}/shared`)).status?.scaledobjects === 'a,b',
    );
    await cluster.api.patch(own, 'merge', { spec: { secretTargetRef: [] } });
    await cluster.untilMet(() =>
      cluster.events.some((event) => event.startsWith('own TriggerAuthenticationUpdated')),
    );
    await cluster.api.delete(own);
    await cluster.untilMet(() =>
      cluster.events.some((event) => event.startsWith('own TriggerAuthenticationDeleted')),
    );
    const shared = `${CLUSTER_WIDE}/shared`;
    await cluster.api.patch(shared, 'merge', { spec: { secretTargetRef: [] } });
    await cluster.untilMet(() => cluster.events.some((event) => /^shared \S+Updated /.test(event)));
    await cluster.api.delete(shared);
    await cluster.untilMet(() => cluster.events.some((event) => /^shared \S+Deleted /.test(event)));
    expect(cluster.events.filter((event) => /^(?:own|shared) /.test(event)).sort()).to.deep.equal([
      'own TriggerAuthenticationAdded New TriggerAuthentication configured',
      'own TriggerAuthenticationDeleted TriggerAuthentication was deleted',
      'own TriggerAuthenticationUpdated TriggerAuthentication own is updated',
      'shared ClusterTriggerAuthenticationAdded New ClusterTriggerAuthentication configured',
      'shared ClusterTriggerAuthenticationDeleted ClusterTriggerAuthentication was deleted',
      'shared ClusterTriggerAuthenticationUpdated ClusterTriggerAuthentication shared is updated',
    ]);
  });

  it("removes KEDA's finalizer, and drops objects that no longer use it", async () => {
    await using cluster = await startScaledObjectsCluster();
    await authentication(cluster, 'TriggerAuthentication', 'own', { finalizers: ['finalizer.keda.sh'] });
    await cluster.scaledObject('web', {
      triggers: [cluster.trigger('/queue', { authenticationRef: { name: 'own' } })],
    });
    await cluster.lead();
    const own = `${PATHS.authentications}/own`;
    await cluster.untilMet(async () => (await cluster.get(own)).status?.scaledobjects === 'web');
    await cluster.api.patch(`${PATHS.scaledObjects}/web`, 'merge', {
      spec: { triggers: [cluster.trigger('/queue')] },
    });
    await cluster.untilMet(async () => (await cluster.get(own)).status?.scaledobjects === undefined);
    await cluster.api.delete(own);
    await cluster.untilMet(async () => (await cluster.get(own)).code === 404);
  });
});

async function authentication(
  cluster: ScaledObjectsCluster,
  kind: 'TriggerAuthentication' | 'ClusterTriggerAuthentication',
  name: string,
  metadata: object = {},
): Promise<void> {
  await cluster.create(kind === 'TriggerAuthentication' ? PATHS.authentications : CLUSTER_WIDE, {
    ...{ apiVersion: 'keda.sh/v1alpha1', kind, metadata: { name, ...metadata } },
    spec: { secretTargetRef: [{ parameter: 'password', name: 's', key: 'k' }] },
  });
}
