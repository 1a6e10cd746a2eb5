import { expect } from 'chai';
import { PATHS, startScaledObjectsCluster } from '#spec/support/scaled-objects-cluster.ts';

describe('debugScaledObjects', () => {
  it('tells of each trigger what it told, since when it is active, and what happens next', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 12);
    await cluster.deployment('web', 2);
    await cluster.scaledObject('web', { cooldownPeriod: 100, triggers: [cluster.trigger('/queue')] });
    await cluster.lead();
    await cluster.holds(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
    const [active] = (await cluster.debug()).scaledObjects;
    expect(active).to.deep.include({
      namespace: 'default',
      name: 'web',
      hpa: 'keda-hpa-web',
      next: 'leave the replicas to the HPA for as long as a trigger is active',
    });
    const [metric] = active.triggers[0].metrics;
    expect(metric).to.deep.include({
      ...{ metric: 's0-metric-api-value', state: 'value', values: [12], isActive: true },
      ...{ target: 5, targetType: 'AverageValue' },
    });
    expect(metric.activeSince).to.match(/^2026-01-01T00:00:0/);
    expect(metric.nextInMs).to.be.within(1, 15_000);
    cluster.source.set('/queue', 0);
    await cluster.elapse(16);
    await cluster.holds(async () =>
      (await cluster.condition('web', 'Active')).startsWith('False ScalerCooldown'),
    );
    const [cooling] = (await cluster.debug()).scaledObjects;
    expect(cooling.next).to.equal('scale to 0, unless a trigger is active by then');
    expect(cooling.nextInMs).to.be.within(60_000, 100_001);
    expect(cooling.triggers[0].metrics[0]).to.include({ isActive: false });
    expect(cooling.triggers[0].metrics[0]).to.have.property('inactiveSince');
    cluster.source.set('/queue', { status: 500 });
    await cluster.elapse(16);
    await cluster.holds(
      async () => (await cluster.debug()).scaledObjects[0].triggers[0].metrics[0].failures > 0,
    );
    const [failing] = (await cluster.debug('?name=web')).scaledObjects;
    expect(failing.triggers[0].metrics[0]).to.include({
      state: 'failing',
      error: 'error requesting metrics endpoint: /queue: api returned 500',
    });
    expect((await cluster.debug('?name=other')).scaledObjects).to.deep.equal([]);
  });

  it('tells why an object cannot be used, of its pause, and of ScaledJobs', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 3);
    await cluster.deployment('web', 1);
    await cluster.scaledObject('web', { triggers: [{ type: 'kafka', metadata: {} }] });
    await cluster.deployment('paused', 1);
    const annotations = { 'autoscaling.keda.sh/paused': 'true' };
    await cluster.scaledObject('paused', { triggers: [cluster.trigger('/queue')] }, { annotations });
    await cluster.create(PATHS.scaledJobs, {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledJob', metadata: { name: 'work' } },
      spec: {
        jobTargetRef: { template: { spec: { containers: [{ name: 'main', image: 'worker' }] } } },
        triggers: [cluster.trigger('/queue')],
      },
    });
    await cluster.lead();
    await cluster.holds(async () => (await cluster.condition('web', 'Ready')).startsWith('False'));
    await cluster.holds(async () => (await cluster.condition('paused', 'Paused')).startsWith('True'));
    await cluster.holds(
      async () => (await cluster.debug()).scaledJobs[0].triggers?.[0].metrics[0].values?.[0] === 3,
    );
    const { scaledObjects } = await cluster.debug();
    const [paused, web] = [...scaledObjects].sort((a, b) => a.name.localeCompare(b.name));
    expect(web.triggers[0].error).to.match(/^no scaler found for type: kafka; there are /);
    expect(web.next).to.equal('look again whether the object can be used');
    expect(paused.next).to.equal('do nothing until the pause ends');
  });
});
