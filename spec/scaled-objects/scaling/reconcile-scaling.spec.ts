import { expect } from 'chai';
import { z } from 'zod';
import { above, oneMetric, type Trigger } from '#lib/scaled-objects/triggers/trigger.ts';
import { PATHS, startScaledObjectsCluster } from '#spec/support/scaled-objects-cluster.ts';

const METRIC = 's0-metric-api-value';
const NOT_ACTIVE = 'False ScalerNotActive Scaling is not performed because triggers are not active';

describe('reconcileScaling', () => {
  it('counts the first cooldown from the creation of the object', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 0);
    await cluster.deployment('web', 2);
    await cluster.scaledObject('web', {
      ...{ initialCooldownPeriod: 60, cooldownPeriod: 0, triggers: [cluster.trigger('/queue')] },
    });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).includes('ScalerCooldown'));
    expect(await cluster.condition('web', 'Active')).to.equal(
      'False ScalerCooldown Scaler cooling down because triggers are not active',
    );
    await cluster.elapse(50);
    expect(await cluster.replicas('web')).to.equal(2);
    await cluster.elapse(12);
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 0);
  });

  it('counts the cooldown from now where a clock that was ahead has written when it was last active', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 0);
    await cluster.deployment('web', 2);
    await cluster.scaledObject('web', { cooldownPeriod: 60, triggers: [cluster.trigger('/queue')] });
    const path = `${PATHS.scaledObjects}/web`;
    const lastActiveTime = new Date(cluster.clock.nowMs() + 86_400_000).toISOString();
    const { status } = await cluster.api.put(`${path}/status`, {
      ...(await cluster.get(path)),
      status: { lastActiveTime },
    });
    expect(status).to.equal(200);
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).includes('ScalerCooldown'));
    await cluster.elapse(50);
    expect(await cluster.replicas('web')).to.equal(2);
    await cluster.elapse(20);
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 0);
  });

  for (const [how, stepMs] of [
    ['back', -3_600_000],
    ['forward', 3_600_000],
  ] as const)
    it(`keeps the cooldown if the wall clock is set ${how} by an hour meanwhile`, async () => {
      await using cluster = await startScaledObjectsCluster();
      cluster.source.set('/queue', 1);
      await cluster.deployment('web', 2);
      const periods = { pollingInterval: 10, cooldownPeriod: 60 };
      await cluster.scaledObject('web', { ...periods, triggers: [cluster.trigger('/queue')] });
      await cluster.lead();
      await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
      cluster.source.set('/queue', 0);
      await cluster.elapse(11);
      await cluster.untilMet(async () =>
        (await cluster.condition('web', 'Active')).includes('ScalerCooldown'),
      );
      cluster.clock.stepWall(stepMs);
      await cluster.elapse(30);
      expect(await cluster.replicas('web')).to.equal(2);
      await cluster.elapse(70);
      await cluster.untilMet(async () => (await cluster.replicas('web')) === 0);
    });

  it('counts the cooldown from when a leader has seen activity that ended, though it polls seldom', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 1);
    await cluster.deployment('web', 1);
    const periods = { pollingInterval: 600, cooldownPeriod: 120 };
    await cluster.scaledObject('web', { ...periods, triggers: [cluster.trigger('/queue')] });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
    await cluster.elapse(150);
    await cluster.stop();
    cluster.source.set('/queue', 0);
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).includes('ScalerCooldown'));
    await cluster.elapse(20);
    expect(await cluster.replicas('web')).to.equal(1);
    await cluster.elapse(110);
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 0);
  });

  for (const [what, advanced] of [
    ['triggers', {}],
    ['a formula', { scalingModifiers: { formula: 'queue - 1', target: '5' } }],
  ] as const)
    it(`starts the cooldown at the activity of ${what} that a follower polled before it leads`, async () => {
      await using cluster = await startScaledObjectsCluster();
      cluster.source.set('/queue', 2);
      await cluster.deployment('web', 1);
      const periods = { pollingInterval: 600, cooldownPeriod: 60 };
      const triggers = [cluster.trigger('/queue', { name: 'queue' })];
      await cluster.scaledObject('web', { ...periods, advanced, triggers });
      const path = `${PATHS.scaledObjects}/web`;
      const lastActiveTime = new Date(cluster.clock.nowMs() - 590_000).toISOString();
      await cluster.api.put(`${path}/status`, { ...(await cluster.get(path)), status: { lastActiveTime } });
      await cluster.lead(async () => {
        await cluster.untilMet(() => cluster.requested('/queue') > 0);
        await cluster.elapse(31);
        cluster.source.set('/queue', 0);
        await cluster.elapse(31); // confirms that nothing changes
      });
      await cluster.untilMet(async () =>
        (await cluster.condition('web', 'Active')).includes('ScalerCooldown'),
      );
      await cluster.elapse(10);
      expect(await cluster.replicas('web')).to.equal(1);
      await cluster.elapse(25); // 35 s after the start of leading, at most 66 s after the last activity
      await cluster.untilMet(async () => (await cluster.replicas('web')) === 0);
    });

  it('rests at idle replicas, and wakes to the minimum', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 0);
    await cluster.deployment('web', 5);
    const replicas = { idleReplicaCount: 0, minReplicaCount: 2, maxReplicaCount: 8 };
    await cluster.scaledObject('web', {
      ...replicas,
      cooldownPeriod: 0,
      triggers: [cluster.trigger('/queue')],
    });
    await cluster.lead();
    await cluster.elapse(2);
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 0);
    const { spec } = await cluster.get(`${PATHS.hpas}/keda-hpa-web`);
    expect(spec).to.include({ minReplicas: 2, maxReplicas: 8 });
    cluster.source.set('/queue', 1);
    await cluster.elapse(31);
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 2);
  });

  it('raises what has fewer replicas than the minimum, without an event', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 0);
    await cluster.deployment('web', 1);
    const triggers = [cluster.trigger('/queue')];
    await cluster.scaledObject('web', { minReplicaCount: 3, cooldownPeriod: 9, triggers });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 3);
    expect(cluster.events).to.include(
      'web KEDAScalerInfo CooldownPeriod is configured but is not relevant. CooldownPeriod is only relevant when minReplicaCount = 0 or idleReplicaCount = 0',
    );
    expect(cluster.events.filter((event) => event.includes('KEDAScaleTarget'))).to.deep.equal([]);
  });

  it('continues the cooldown while one trigger is active and another fails', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/a', 1).set('/b', 1);
    await cluster.deployment('web', 1);
    await cluster.scaledObject('web', { triggers: [cluster.trigger('/a'), cluster.trigger('/b')] });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
    cluster.source.set('/b', { status: 500 });
    await cluster.elapse(16);
    await cluster.untilMet(async () => (await cluster.condition('web', 'Ready')).startsWith('Unknown'));
    expect(await cluster.condition('web', 'Ready')).to.equal(
      'Unknown PartialTriggerError Some triggers defined in ScaledObject are not working correctly',
    );
    const { lastActiveTime } = await cluster.status('web');
    await cluster.elapse(120);
    expect((await cluster.status('web')).lastActiveTime).to.equal(lastActiveTime);
    expect(await cluster.replicas('web')).to.equal(1);
  });

  it('uses the valid parameters of a trigger, and reports the others once', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 1);
    await cluster.deployment('web', 0);
    const trigger = cluster.trigger('/queue', { metadata: { targetvalue: '1' } });
    await cluster.scaledObject('web', { triggers: [trigger] });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 1);
    await cluster.elapse(31);
    expect(cluster.events.filter((event) => event.includes('KEDAScalerInfo'))).to.deep.equal([
      'web KEDAScalerInfo Unmatched input property targetvalue in scaler metrics-api',
    ]);
  });

  it('activates by annotation, and reports it', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 0);
    await cluster.deployment('web', 0);
    const annotations = { 'autoscaling.keda.sh/force-activation': 'true' };
    await cluster.scaledObject('web', { triggers: [cluster.trigger('/queue')] }, { annotations });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 1);
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
    expect(await cluster.condition('web', 'Active')).to.equal(
      'True ScalerActive Scaling is performed because activation is being forced by annotation',
    );
    expect(cluster.events).to.include(
      'web KEDAScaleTargetActivated Scaled apps/v1.Deployment default/web from 0 to 1, caused by forced activation annotation',
    );
  });

  it('applies the fallback from zero, once failures exceed the threshold', async () => {
    await using cluster = await startScaledObjectsCluster();
    await cluster.deployment('web', 0);
    const fallback = { failureThreshold: 1, replicas: 4 };
    await cluster.scaledObject('web', {
      pollingInterval: 10,
      fallback,
      triggers: [cluster.trigger('/absent')],
    });
    await cluster.lead();
    await cluster.untilMet(
      async () => (await cluster.status('web')).health?.[METRIC]?.numberOfFailures === 1,
    );
    expect(await cluster.replicas('web')).to.equal(0);
    await cluster.elapse(11);
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 1);
    await cluster.untilMet(() => cluster.external(METRIC, 'web') === '20');
  });

  it('stays in the fallback though its trigger cannot be planned again while its source is away', async () => {
    let isThere = true;
    const parameters = z.object({});
    const trigger: Trigger = {
      ...{
        types: ['remote'],
        scalerName: () => 'remoteScaler',
        description: 'A source that is asked what it has.',
        parameters,
      },
      plan() {
        if (!isThere) throw new Error('the source does not say what it has');
        const run = async () => {
          if (!isThere) throw new Error('the source is away');
          return [{ value: 7, labels: {} }];
        };
        const query = { key: 'remote', description: 'what is left', run };
        return oneMetric({ name: 'remote', query, target: 5, evaluate: above(0) });
      },
    };
    await using cluster = await startScaledObjectsCluster({ triggers: [trigger] });
    await cluster.create(PATHS.authentications, {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'TriggerAuthentication', metadata: { name: 'auth' } },
      spec: { env: [] },
    });
    await cluster.deployment('web', 2);
    await cluster.scaledObject('web', {
      ...{ pollingInterval: 10, fallback: { failureThreshold: 1, replicas: 4 } },
      triggers: [{ type: 'remote', metadata: {}, authenticationRef: { name: 'auth' } }],
    });
    await cluster.lead();
    await cluster.untilMet(() => cluster.external('s0-remote', 'web') === '7');
    isThere = false;
    await cluster.elapse(45); // credentials are read again meanwhile
    await cluster.untilMet(() => cluster.external('s0-remote', 'web') === '20');
    await cluster.elapse(45);
    expect(await cluster.condition('web', 'Fallback')).to.match(/^True FallbackExists/);
    expect(cluster.external('s0-remote', 'web')).to.equal('20');
  });

  it('scales nothing to a fallback of 0 before failures exceed the threshold', async () => {
    await using cluster = await startScaledObjectsCluster();
    await cluster.deployment('web', 3);
    const fallback = { failureThreshold: 3, replicas: 0 };
    await cluster.scaledObject('web', {
      ...{ pollingInterval: 10, cooldownPeriod: 0, fallback, triggers: [cluster.trigger('/absent')] },
    });
    await cluster.lead();
    await cluster.elapse(21);
    await cluster.untilMet(
      async () => (await cluster.status('web')).health?.[METRIC]?.numberOfFailures === 3,
    );
    expect(await cluster.replicas('web')).to.equal(3);
    await cluster.elapse(11);
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 0);
  });

  for (const [annotation, direction, replicas] of [
    ['paused-scale-in', 'scaleDown', 3],
    ['paused-scale-out', 'scaleUp', 0],
  ] as const)
    it(`scales in one direction only by ${annotation}`, async () => {
      await using cluster = await startScaledObjectsCluster();
      cluster.source.set('/queue', direction === 'scaleUp' ? 9 : 0);
      await cluster.deployment('web', replicas);
      const annotations = { [`autoscaling.keda.sh/${annotation}`]: 'true' };
      await cluster.scaledObject(
        'web',
        { cooldownPeriod: 0, triggers: [cluster.trigger('/queue')] },
        { annotations },
      );
      await cluster.lead();
      await cluster.untilMet(async () => (await cluster.condition('web', 'Paused')).startsWith('True'));
      expect(await cluster.condition('web', 'Paused')).to.equal(
        'True ScaledObjectPaused ScaledObject is paused',
      );
      const { spec } = await cluster.get(`${PATHS.hpas}/keda-hpa-web`);
      expect(spec.behavior[direction].selectPolicy).to.equal('Disabled');
      await cluster.elapse(40);
      expect(await cluster.replicas('web')).to.equal(replicas);
      expect(cluster.external(METRIC, 'web')).to.equal(direction === 'scaleUp' ? '9' : '0');
    });

  it('does not record activity that activates nothing, so that no cooldown follows', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 9);
    await cluster.deployment('web', 0);
    const annotations = { 'autoscaling.keda.sh/paused-scale-out': 'true' };
    await cluster.scaledObject('web', { triggers: [cluster.trigger('/queue')] }, { annotations });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
    await cluster.elapse(61);
    cluster.source.set('/queue', 0);
    await cluster.elapse(31);
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')) === NOT_ACTIVE);
    expect(await cluster.status('web')).not.to.have.property('lastActiveTime');
  });

  for (const [text, isPaused] of [
    ['false', false],
    ['0', false],
    ['true', true],
    ['whatever', true],
  ] as const)
    it(`${isPaused ? 'pauses' : 'does not pause'} by an annotation ${text}, and retains replicas`, async () => {
      await using cluster = await startScaledObjectsCluster();
      cluster.source.set('/queue', 9);
      await cluster.deployment('web', 2);
      const annotations = { 'autoscaling.keda.sh/paused': text };
      await cluster.scaledObject('web', { triggers: [cluster.trigger('/queue')] }, { annotations });
      await cluster.lead();
      await cluster.untilMet(async () => (await cluster.condition('web', 'Ready')).startsWith('True'));
      const { code } = await cluster.get(`${PATHS.hpas}/keda-hpa-web`);
      expect(code).to.equal(isPaused ? 404 : undefined);
      expect(await cluster.replicas('web')).to.equal(2);
    });

  it('polls at the sync period of HPAs, and with useCachedMetrics only at the polling interval', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/fresh', 1).set('/cached', 1);
    for (const [name, more] of [
      ['fresh', {}],
      ['cached', { useCachedMetrics: true }],
    ] as const) {
      await cluster.deployment(name, 1);
      await cluster.scaledObject(name, {
        pollingInterval: 60,
        triggers: [cluster.trigger(`/${name}`, more)],
      });
    }
    await cluster.lead();
    await cluster.untilMet(() => cluster.requested('/cached') === 1 && cluster.requested('/fresh') === 1);
    await cluster.elapse(125);
    expect(cluster.requested('/cached')).to.equal(3);
    expect(cluster.requested('/fresh')).to.be.within(8, 9);
  });

  it('adopts an HPA in place whose name is given, and no other', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 1);
    for (const name of ['web', 'other']) {
      await cluster.deployment(name, 1);
      await cluster.create(PATHS.hpas, {
        ...{
          apiVersion: 'autoscaling/v2',
          kind: 'HorizontalPodAutoscaler',
          metadata: { name: `my-${name}` },
        },
        spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name }, maxReplicas: 2 },
      });
    }
    const { uid } = (await cluster.get(`${PATHS.hpas}/my-web`)).metadata;
    const annotations = { 'scaledobject.keda.sh/transfer-hpa-ownership': 'true' };
    const advanced = { horizontalPodAutoscalerConfig: { name: 'my-web' } };
    const triggers = [cluster.trigger('/queue')];
    await cluster.scaledObject('web', { triggers, advanced }, { annotations });
    await cluster.scaledObject('other', { triggers }, { annotations });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
    const hpa = await cluster.get(`${PATHS.hpas}/my-web`);
    expect(hpa.metadata.uid).to.equal(uid);
    expect(hpa.metadata.ownerReferences[0]).to.include({
      kind: 'ScaledObject',
      name: 'web',
      controller: true,
    });
    expect(hpa.spec.maxReplicas).to.equal(100);
    await cluster.untilMet(async () => (await cluster.condition('other', 'Ready')).startsWith('False'));
    expect(await cluster.condition('other', 'Ready')).to.contain(
      "the existing hpa 'my-other' for workload 'other' of type 'apps/v1.Deployment' must be specified by name in advanced settings to enable ownership transfer",
    );
  });

  it('reads the defaults of a namespace only if a container has no requests', async () => {
    await using cluster = await startScaledObjectsCluster();
    const requested: string[] = [];
    cluster.setFaults({
      serve: async ({ target, path }, { next }) => {
        if (target.isResource && target.resource === 'limitranges') requested.push(path);
        await next();
      },
    });
    const triggers = [{ type: 'cpu', metricType: 'Utilization', metadata: { value: '50' } }];
    await cluster.deployment('web', 1, { resources: { requests: { cpu: '1' } } });
    await cluster.scaledObject('web', { minReplicaCount: 1, triggers });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Ready')).startsWith('True'));
    await cluster.elapse(61);
    expect(requested).to.deep.equal([]);
    await cluster.deployment('bare', 1);
    await cluster.scaledObject('bare', { minReplicaCount: 1, triggers });
    await cluster.untilMet(async () => (await cluster.condition('bare', 'Ready')).startsWith('False'));
    expect(new Set(requested)).to.deep.equal(new Set(['/api/v1/namespaces/default/limitranges']));
  });

  it('does not take over the HPA of another workload, even with the desired name', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 1);
    for (const name of ['web', 'shop']) await cluster.deployment(name, 1);
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'shop' };
    await cluster.create(PATHS.hpas, {
      ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'shop' } },
      spec: { scaleTargetRef, maxReplicas: 2 },
    });
    const advanced = { horizontalPodAutoscalerConfig: { name: 'shop' } };
    await cluster.scaledObject('web', { triggers: [cluster.trigger('/queue')], advanced });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Ready')).startsWith('False'));
    expect(await cluster.condition('web', 'Ready')).to.contain(
      "the HPA 'shop' already scales another workload, 'shop' of type 'apps/v1.Deployment'",
    );
    const hpa = await cluster.get(`${PATHS.hpas}/shop`);
    expect(hpa.spec).to.deep.include({ scaleTargetRef, maxReplicas: 2 });
    expect(hpa.metadata.ownerReferences).to.equal(undefined);
  });

  it('does not change the replicas if nothing has to be restored', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 0);
    await cluster.deployment('web', 3);
    await cluster.scaledObject('web', { cooldownPeriod: 0, triggers: [cluster.trigger('/queue')] });
    await cluster.lead();
    await cluster.elapse(2);
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 0);
    expect(await cluster.condition('web', 'Active')).to.equal(NOT_ACTIVE);
    await cluster.api.delete(`${PATHS.scaledObjects}/web`);
    await cluster.untilMet(async () => (await cluster.get(`${PATHS.scaledObjects}/web`)).code === 404);
    expect(await cluster.replicas('web')).to.equal(0);
  });
});
