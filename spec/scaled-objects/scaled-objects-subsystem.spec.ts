import { expect } from 'chai';
import { PATHS, startScaledObjectsCluster } from '#spec/support/scaled-objects-cluster.ts';

describe('scaledObjectsSubsystem', function () {
  this.timeout(60_000);

  it('makes an HPA, scales from zero and back, and tells of it', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 0);
    await cluster.deployment('web', 0);
    await cluster.scaledObject('web', { cooldownPeriod: 60, triggers: [cluster.trigger('/queue')] });
    await cluster.lead();
    await cluster.holds(async () => (await cluster.condition('web', 'Active')).startsWith('False'));
    expect(await cluster.condition('web', 'Ready')).to.equal(
      'True ScaledObjectReady ScaledObject is defined correctly and is ready for scaling',
    );
    expect(await cluster.condition('web', 'Active')).to.equal(
      'False ScalerNotActive Scaling is not performed because triggers are not active',
    );
    const hpa = await cluster.get(`${PATHS.hpas}/keda-hpa-web`);
    expect(hpa.spec).to.deep.include({
      minReplicas: 1,
      maxReplicas: 100,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      metrics: [
        {
          type: 'External',
          external: {
            metric: {
              name: 's0-metric-api-value',
              selector: { matchLabels: { 'scaledobject.keda.sh/name': 'web' } },
            },
            target: { type: 'AverageValue', averageValue: '5' },
          },
        },
      ],
    });
    expect(hpa.metadata.labels).to.deep.equal({
      'app.kubernetes.io/name': 'keda-hpa-web',
      'app.kubernetes.io/version': '1.2.3',
      'app.kubernetes.io/part-of': 'web',
      'app.kubernetes.io/managed-by': 'keda-operator',
      'scaledobject.keda.sh/name': 'web',
    });
    expect(cluster.external('s0-metric-api-value', 'web')).to.equal('0');

    cluster.source.set('/queue', 12);
    await cluster.elapse(30);
    await cluster.holds(async () => (await cluster.replicas('web')) === 1);
    expect(cluster.external('s0-metric-api-value', 'web')).to.equal('12');
    await cluster.holds(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
    expect(await cluster.condition('web', 'Active')).to.equal(
      'True ScalerActive Scaling is performed because triggers are active',
    );

    cluster.source.set('/queue', 0);
    await cluster.elapse(31);
    await cluster.holds(async () =>
      (await cluster.condition('web', 'Active')).startsWith('False ScalerCooldown'),
    );
    expect(await cluster.replicas('web')).to.equal(1);
    await cluster.elapse(65);
    await cluster.holds(async () => (await cluster.replicas('web')) === 0);
    expect(cluster.events).to.include.members([
      'web ScaledObjectReady ScaledObject is ready for scaling',
      'web KEDAScalersStarted Started scalers watch',
      'web KEDAScalersStarted Scaler metrics-api is built',
      'web KEDAScaleTargetActivated Scaled apps/v1.Deployment default/web from 0 to 1, triggered by s0-metric-api-value',
      'web KEDAScaleTargetDeactivated Deactivated apps/v1.Deployment default/web from 1 to 0',
    ]);
  });
});
