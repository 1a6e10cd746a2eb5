import { expect } from 'chai';
import { refuseRequests } from '#lib/simulator/api-server/faults/refuse-requests.ts';
import { startScaledObjectsCluster } from '#spec/support/scaled-objects-cluster.ts';

const REPLICA_SETS = '/apis/apps/v1/namespaces/default/replicasets';

describe('targetReading', function () {
  this.timeout(60_000);

  it('stops while the replicas of a target cannot be read, says so, and goes on when they can', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 0);
    const labels = { app: 'web' };
    await cluster.create(REPLICA_SETS, {
      ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'web' } },
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
      },
    });
    const refuse = refuseRequests({ code: 403, reason: 'Forbidden' });
    cluster.setFaults({
      serve: (request, context) =>
        request.target.isResource && request.target.subresource === 'scale'
          ? refuse.serve(request, context)
          : context.next(),
    });
    await cluster.scaledObject('web', {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' },
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
