import { expect } from 'chai';
import { delayWatches, forRequests, refuseRequests } from '#simulator/api-server/faults.ts';
import { PATHS, startScaledObjectsCluster } from '#spec/support/scaled-objects-cluster.ts';

describe('scaledObjectsSubsystem', () => {
  it('applies an HPA, scales from zero and back, and reports it', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 0);
    await cluster.deployment('web', 0);
    await cluster.scaledObject('web', { cooldownPeriod: 60, triggers: [cluster.trigger('/queue')] });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('False'));
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
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 1);
    expect(cluster.external('s0-metric-api-value', 'web')).to.equal('12');
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
    expect(await cluster.condition('web', 'Active')).to.equal(
      'True ScalerActive Scaling is performed because triggers are active',
    );

    cluster.source.set('/queue', 0);
    await cluster.elapse(31);
    await cluster.untilMet(async () =>
      (await cluster.condition('web', 'Active')).startsWith('False ScalerCooldown'),
    );
    expect(await cluster.replicas('web')).to.equal(1);
    await cluster.elapse(65);
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 0);
    expect(cluster.events).to.include.members([
      'web ScaledObjectReady ScaledObject is ready for scaling',
      'web KEDAScalersStarted Started scalers watch',
      'web KEDAScalersStarted Scaler metrics-api is built',
      'web KEDAScaleTargetActivated Scaled apps/v1.Deployment default/web from 0 to 1, triggered by s0-metric-api-value',
      'web KEDAScaleTargetDeactivated Deactivated apps/v1.Deployment default/web from 1 to 0',
    ]);
  });
});

describe('scaledObjectsSubsystem, by settings of a ScaledObject', () => {
  it('returns an error to the HPA while a trigger fails, until the fallback applies, and recovers', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 10);
    await cluster.deployment('web', 2);
    const fallback = { failureThreshold: 2, replicas: 6 };
    await cluster.scaledObject('web', { triggers: [cluster.trigger('/queue')], fallback });
    await cluster.lead();
    await cluster.untilMet(() => cluster.external('s0-metric-api-value', 'web') === '10');
    await cluster.untilMet(async () => (await cluster.condition('web', 'Fallback')).startsWith('False'));
    cluster.source.set('/queue', { status: 500 });
    await cluster.elapse(16);
    await cluster.untilMet(
      async () => (await cluster.status('web')).health?.['s0-metric-api-value']?.numberOfFailures === 1,
    );
    expect(cluster.external('s0-metric-api-value', 'web')).to.match(
      /^metric:s0-metric-api-value encountered error: .*500/,
    );
    expect(await cluster.replicas('web')).to.equal(2);
    await cluster.elapse(31);
    await cluster.untilMet(async () => (await cluster.condition('web', 'Fallback')).startsWith('True'));
    expect((await cluster.status('web')).health).to.deep.equal({
      's0-metric-api-value': { numberOfFailures: 3, status: 'Failing' },
    });
    await cluster.untilMet(() => cluster.external('s0-metric-api-value', 'web') === '30');
    expect(await cluster.condition('web', 'Fallback')).to.equal(
      'True FallbackExists At least one trigger is falling back on this scaled object',
    );
    cluster.source.set('/queue', 15);
    await cluster.elapse(16);
    await cluster.untilMet(async () => (await cluster.condition('web', 'Fallback')).startsWith('False'));
    expect(cluster.external('s0-metric-api-value', 'web')).to.equal('15');
    expect(cluster.events).to.include.members([
      'web ScaledObjectFallbackActivated ScaledObject fallback is active',
      'web ScaledObjectFallbackDeactivated ScaledObject fallback is no longer active',
    ]);
  });

  it('does not scale while all triggers fail without a fallback, and reports that', async () => {
    await using cluster = await startScaledObjectsCluster();
    await cluster.deployment('web', 3);
    await cluster.scaledObject('web', { cooldownPeriod: 0, triggers: [cluster.trigger('/absent')] });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Ready')).startsWith('False'));
    expect(await cluster.condition('web', 'Ready')).to.equal(
      'False TriggerError Triggers defined in ScaledObject are not working correctly',
    );
    await cluster.elapse(60);
    expect(await cluster.replicas('web')).to.equal(3);
    expect(cluster.events).to.include(
      'web KEDAScalerFailed error requesting metrics endpoint: /absent: api returned 404',
    );
  });

  it('pauses: deletes its HPA, sets the replicas of the annotation, and polls nothing', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 10);
    await cluster.deployment('web', 2);
    await cluster.scaledObject('web', { triggers: [cluster.trigger('/queue')] });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
    const path = `${PATHS.scaledObjects}/web`;
    const annotate = (value: string | null) =>
      cluster.api.patch(path, 'merge', {
        metadata: { annotations: { 'autoscaling.keda.sh/paused-replicas': value } },
      });
    await annotate('4');
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 4);
    await cluster.untilMet(async () => (await cluster.status('web')).pausedReplicaCount === 4);
    expect(await cluster.condition('web', 'Paused')).to.equal(
      'True ScaledObjectPaused ScaledObject is paused',
    );
    expect(await cluster.condition('web', 'Ready')).to.equal('True ScaledObjectReady ScaledObject is paused');
    expect(await cluster.condition('web', 'Active')).to.equal(
      'Unknown ScaledObjectPaused ScaledObject is paused',
    );
    expect(await cluster.status('web')).to.not.have.any.keys('health', 'triggersActivity');
    expect((await cluster.get(`${PATHS.hpas}/keda-hpa-web`)).code).to.equal(404);
    await cluster.setReplicas('web', 9); // written by another client
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 4);
    const requested = cluster.requested('/queue');
    await cluster.elapse(60);
    expect(cluster.requested('/queue')).to.equal(requested);
    await annotate(null);
    await cluster.untilMet(async () => (await cluster.condition('web', 'Paused')).startsWith('False'));
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
    expect(await cluster.condition('web', 'Paused')).to.equal(
      'False ScaledObjectUnpaused pause annotation removed for ScaledObject',
    );
    expect((await cluster.get(`${PATHS.hpas}/keda-hpa-web`)).metadata.name).to.equal('keda-hpa-web');
    expect((await cluster.status('web')).pausedReplicaCount).to.equal(undefined);
    expect(cluster.events).to.include.members([
      'web ScaledObjectPaused ScaledObject is paused',
      'web ScaledObjectUnpaused pause annotation removed for ScaledObject',
    ]);
  });

  it('restores the original replicas when it is deleted, and leaves no objects behind', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 0);
    await cluster.deployment('web', 3);
    await cluster.scaledObject('web', {
      cooldownPeriod: 0,
      triggers: [cluster.trigger('/queue')],
      advanced: { restoreToOriginalReplicaCount: true },
    });
    await cluster.lead();
    await cluster.elapse(2);
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 0);
    await cluster.api.delete(`${PATHS.scaledObjects}/web`);
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 3);
    await cluster.untilMet(async () => (await cluster.get(`${PATHS.scaledObjects}/web`)).code === 404);
    await cluster.untilMet(() => cluster.external('s0-metric-api-value', 'web') === 'no such metric');
    expect(cluster.events).to.include('web ScaledObjectDeleted ScaledObject was deleted');
    expect(cluster.logger.lines.filter((one) => one.level !== 'info')).to.deep.equal([]);
  });

  it('gives a new target its own replicas back, not those of the target before', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 0);
    await cluster.deployment('web', 3);
    await cluster.deployment('next', 5);
    await cluster.scaledObject('web', {
      cooldownPeriod: 0,
      triggers: [cluster.trigger('/queue')],
      advanced: { restoreToOriginalReplicaCount: true },
    });
    cluster.setFaults(forRequests({ resource: 'horizontalpodautoscalers' }, delayWatches(5000)));
    await cluster.lead();
    await cluster.elapse(10);
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 0);
    expect((await cluster.status('web')).originalReplicaCount).to.equal(3);
    const spec = { scaleTargetRef: { name: 'next' } };
    await cluster.api.patch(`${PATHS.scaledObjects}/web`, 'merge', { spec });
    await cluster.untilMet(async () => (await cluster.replicas('next')) === 0);
    await cluster.elapse(40);
    expect((await cluster.status('web')).originalReplicaCount).to.equal(5);
    await cluster.api.delete(`${PATHS.scaledObjects}/web`);
    await cluster.untilMet(async () => (await cluster.replicas('next')) === 5);
  });

  it('handles a deleted object even before the watch reports it', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 0);
    await cluster.deployment('web', 3);
    await cluster.scaledObject('web', {
      cooldownPeriod: 0,
      triggers: [cluster.trigger('/queue')],
      advanced: { restoreToOriginalReplicaCount: true },
    });
    cluster.setFaults(forRequests({ resource: 'scaledobjects' }, delayWatches(20_000)));
    await cluster.lead();
    await cluster.elapse(2);
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 0);
    await cluster.api.delete(`${PATHS.scaledObjects}/web`);
    await cluster.elapse(21);
    await cluster.untilMet(async () => (await cluster.get(`${PATHS.scaledObjects}/web`)).code === 404);
    await cluster.setReplicas('web', 7);
    await cluster.elapse(10);
    expect(await cluster.replicas('web')).to.equal(7);
    expect(cluster.events.filter((event) => event.startsWith('web ScaledObjectDeleted'))).to.have.lengthOf(1);
    expect(cluster.logger.lines.filter((one) => one.level !== 'info')).to.deep.equal([]);
  });

  it('has a formula make one metric of all', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/a', 4).set('/b', 7);
    await cluster.deployment('web', 1);
    await cluster.scaledObject('web', {
      triggers: [cluster.trigger('/a', { name: 'a' }), cluster.trigger('/b', { name: 'b' })],
      advanced: { scalingModifiers: { formula: '(a + b) / 2', target: '2.5', activationTarget: '5' } },
    });
    await cluster.lead();
    await cluster.untilMet(() => cluster.external('composite-metric', 'web') === '5500m');
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
    const { metrics } = (await cluster.get(`${PATHS.hpas}/keda-hpa-web`)).spec;
    expect(metrics).to.have.lengthOf(1);
    expect(metrics[0].external.target).to.deep.equal({ type: 'AverageValue', averageValue: '2500m' });
    expect((await cluster.status('web')).compositeScalerName).to.equal('composite-metric');
    expect((await cluster.status('web')).externalMetricNames).to.deep.equal([
      's0-metric-api-value',
      's1-metric-api-value',
    ]);
  });

  it('takes credentials out of a Secret, and the new one when it was rotated', async () => {
    await using cluster = await startScaledObjectsCluster();
    const data = (token: string) => ({ token: Buffer.from(token).toString('base64') });
    cluster.source.set('/queue?api_key=old', 1);
    await cluster.create(PATHS.secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's' },
      data: data('old'),
    });
    await cluster.create(PATHS.authentications, {
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'TriggerAuthentication',
      metadata: { name: 'auth' },
      spec: { secretTargetRef: [{ parameter: 'apiKey', name: 's', key: 'token' }] },
    });
    await cluster.deployment('web', 1);
    const trigger = cluster.trigger('/queue', {
      authenticationRef: { name: 'auth' },
      metadata: { authModes: 'apiKey', method: 'query' },
    });
    await cluster.scaledObject('web', { triggers: [trigger] });
    await cluster.lead();
    await cluster.untilMet(() => cluster.external('s0-metric-api-value', 'web') === '1');
    await cluster.api.patch(`${PATHS.secrets}/s`, 'merge', { data: data('new') });
    cluster.source.delete('/queue?api_key=old');
    cluster.source.set('/queue?api_key=new', 2);
    await cluster.elapse(35);
    await cluster.untilMet(() => cluster.external('s0-metric-api-value', 'web') === '2');
    expect(JSON.stringify([cluster.events, cluster.logger])).to.not.contain('api_key');
    expect((await cluster.status('web')).authenticationsTypes).to.equal('auth');
  });

  it('regards a Secret that cannot be read at the moment neither as an error of its trigger nor as a value', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/open', 4);
    cluster.source.set('/locked?api_key=a', 9);
    await cluster.create(PATHS.secrets, {
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { token: 'a' } },
    });
    await cluster.create(PATHS.authentications, {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'TriggerAuthentication', metadata: { name: 'auth' } },
      spec: { secretTargetRef: [{ parameter: 'apiKey', name: 's', key: 'token' }] },
    });
    const locked = cluster.trigger('/locked', {
      ...{ name: 'locked', authenticationRef: { name: 'auth' } },
      metadata: { authModes: 'apiKey', method: 'query', valueLocation: 'value' },
    });
    const triggers = [cluster.trigger('/open', { name: 'open' }), locked];
    const advanced = { scalingModifiers: { formula: '(locked ?? 0) + open', target: '5' } };
    for (const name of ['web', 'sum']) await cluster.deployment(name, 2);
    await cluster.scaledObject('web', { minReplicaCount: 1, triggers });
    await cluster.scaledObject('sum', { minReplicaCount: 1, triggers, advanced });
    const reported = () => [
      cluster.external('s0-metric-api-value', 'web'),
      cluster.external('s1-metric-api-value', 'web'),
      cluster.external('composite-metric', 'sum'),
    ];
    await cluster.lead();
    await cluster.untilMet(() => reported().join() === '4,9,13');
    await cluster.untilMet(async () => (await cluster.condition('sum', 'Active')).startsWith('True'));
    await cluster.stop();

    const refuse = refuseRequests({ code: 500, reason: 'InternalError' });
    cluster.setFaults(forRequests({ resource: 'secrets' }, refuse));
    const before = cluster.events.length;
    await cluster.lead();
    await cluster.untilMet(() => reported()[0] === '4');
    await cluster.elapse(31);
    expect(reported()).to.deep.equal([
      '4',
      'no such metric',
      'metric:composite-metric encountered error: error trying to run custom formula: unknown name locked',
    ]);
    for (const name of ['web', 'sum'])
      expect(await cluster.condition(name, 'Ready')).to.match(/^True ScaledObjectReady /);
    expect(cluster.events.slice(before)).to.deep.equal([]);
    expect(await cluster.series()).to.match(/keda_scaled_object_errors_total\{.*"web"\} 0\n/);
    expect(JSON.stringify(cluster.logger)).to.contain('Cannot read an object that a trigger refers to');

    cluster.setFaults();
    await cluster.elapse(31);
    await cluster.untilMet(() => reported().join() === '4,9,13');
  });

  for (const [what, spec, message] of [
    [
      'a type that nobody knows',
      { triggers: [{ type: 'kafka', metadata: {} }] },
      /^False ScaledObjectCheckFailed failed to ensure HPA is correctly created for ScaledObject: no scaler found for type: kafka; supported types are .*cpu, cron, /,
    ],
    [
      'an authentication that is not there',
      { triggers: [{ type: 'cron', metadata: {}, authenticationRef: { name: 'nobody' } }] },
      /: TriggerAuthentication "nobody" not found$/,
    ],
    [
      'a missing parameter',
      { triggers: [{ type: 'cron', metadata: { timezone: 'UTC', start: '0 8 * * *', end: '0 9 * * *' } }] },
      /: missing required parameter "desiredReplicas" in \[triggerMetadata\]$/,
    ],
    [
      'idle replicas that are not below min',
      { idleReplicaCount: 2, minReplicaCount: 2, triggers: [{ type: 'cron', metadata: {} }] },
      /^False ScaledObjectCheckFailed ScaledObject doesn't have correct Idle\/Min\/Max Replica Counts specification: IdleReplicaCount=2 must be less than MinReplicaCount=2$/,
    ],
    [
      'a type of metric that external metrics do not have',
      {
        triggers: [
          {
            ...{ type: 'cron', metricType: 'Utilization' },
            metadata: { timezone: 'UTC', start: '0 8 * * *', end: '0 9 * * *', desiredReplicas: '1' },
          },
        ],
      },
      /: 'Utilization' metric type is unsupported for external metrics, allowed values are 'Value' or 'AverageValue'$/,
    ],
    [
      'CPU that is not requested',
      {
        minReplicaCount: 1,
        triggers: [{ type: 'cpu', metricType: 'Utilization', metadata: { value: '50' } }],
      },
      /: the scaledobject has a cpu trigger but the container main doesn't have the cpu request defined$/,
    ],
    [
      'a target that is not there',
      { scaleTargetRef: { name: 'nobody' }, triggers: [{ type: 'cron', metadata: {} }] },
      /^False ScaledObjectCheckFailed ScaledObject doesn't have correct scaleTargetRef specification: .*nobody/,
    ],
  ] as const)
    it(`rejects ${what} by its condition`, async () => {
      await using cluster = await startScaledObjectsCluster();
      await cluster.deployment('web', 1);
      await cluster.scaledObject('web', spec);
      await cluster.lead();
      await cluster.untilMet(async () => (await cluster.condition('web', 'Ready')).startsWith('False'));
      expect(await cluster.condition('web', 'Ready')).to.match(message);
      expect(await cluster.condition('web', 'Active')).to.equal(
        'Unknown UnknownState ScaledObject check failed',
      );
      expect(await cluster.replicas('web')).to.equal(1);
      const reported = cluster.events.filter((event) => event.startsWith('web ScaledObjectCheckFailed'));
      await cluster.elapse(50);
      expect(cluster.events.filter((event) => event.startsWith('web ScaledObjectCheckFailed'))).to.deep.equal(
        reported,
      );
    });

  it('leaves the target to the older of two objects, and to a foreign HPA', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 1);
    await cluster.deployment('web', 1);
    await cluster.scaledObject('web', { triggers: [cluster.trigger('/queue')] });
    await cluster.clock.advance(2000);
    await cluster.scaledObject('younger', {
      scaleTargetRef: { name: 'web' },
      triggers: [cluster.trigger('/queue')],
    });
    await cluster.deployment('other', 1);
    await cluster.create(PATHS.hpas, {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'foreign' },
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'other' }, maxReplicas: 2 },
    });
    await cluster.scaledObject('other', { triggers: [cluster.trigger('/queue')] });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Ready')).startsWith('True'));
    await cluster.untilMet(async () => (await cluster.condition('younger', 'Ready')).startsWith('False'));
    expect(await cluster.condition('younger', 'Ready')).to.contain(
      "the workload 'web' of type 'apps/v1.Deployment' is already managed by the ScaledObject 'web'",
    );
    await cluster.untilMet(async () => (await cluster.condition('other', 'Ready')).startsWith('False'));
    expect(await cluster.condition('other', 'Ready')).to.contain(
      "the workload 'other' of type 'apps/v1.Deployment' is already managed by the hpa 'foreign'",
    );
  });

  it('updates its HPA only if necessary, and creates it again', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 1);
    await cluster.deployment('web', 1);
    await cluster.scaledObject('web', { triggers: [cluster.trigger('/queue')] }, { labels: { team: 'a' } });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
    const hpa = () => cluster.get(`${PATHS.hpas}/keda-hpa-web`);
    const { resourceVersion, uid } = (await hpa()).metadata;
    await cluster.elapse(45);
    expect((await hpa()).metadata.resourceVersion).to.equal(resourceVersion);
    await cluster.api.patch(`${PATHS.scaledObjects}/web`, 'merge', {
      metadata: { labels: { team: null } },
      spec: { maxReplicaCount: 7 },
    });
    await cluster.untilMet(async () => (await hpa()).spec.maxReplicas === 7);
    expect((await hpa()).metadata.labels).to.not.have.property('team');
    expect((await hpa()).metadata.uid).to.equal(uid);
    await cluster.api.delete(`${PATHS.hpas}/keda-hpa-web`);
    await cluster.untilMet(async () => ![undefined, uid].includes((await hpa()).metadata.uid));
  });

  it('has no next action once its term has ended', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 1);
    await cluster.deployment('web', 1);
    await cluster.scaledObject('web', { triggers: [cluster.trigger('/queue')] });
    await cluster.lead();
    const next = async () => (await cluster.debug()).scaledObjects[0]?.next;
    await cluster.untilMet(async () => (await next()) !== undefined);
    await cluster.subsystem.controller()[Symbol.asyncDispose]();
    expect(await next()).to.equal(undefined);
  });

  it('restores the time of its last activity after a restart', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 1);
    await cluster.deployment('web', 1);
    await cluster.scaledObject('web', { cooldownPeriod: 100, triggers: [cluster.trigger('/queue')] });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.status('web')).lastActiveTime !== undefined);
    cluster.source.set('/queue', 0);
    await cluster.elapse(16);
    await cluster.untilMet(async () =>
      (await cluster.condition('web', 'Active')).startsWith('False ScalerCooldown'),
    );
    await cluster.stop();
    await cluster.lead();
    await cluster.elapse(60);
    expect(await cluster.replicas('web')).to.equal(1);
    await cluster.elapse(60);
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 0);
  });
});
