import { expect } from 'chai';
import type { ApiRequest } from '#simulator/api-server/api-request.ts';
import { refuseRequests } from '#simulator/api-server/faults.ts';
import { refuseScales } from '#spec/support/replica-set-target.ts';
import {
  PATHS,
  type ScaledObjectsCluster,
  startScaledObjectsCluster,
} from '#spec/support/scaled-objects-cluster.ts';

/** The exact texts of failures in conditions and events, on which users and dashboards match. */
describe('failures of ScaledObjects and ScaledJobs', () => {
  it('report missing targets, and targets without a scale subresource', async () => {
    await using cluster = await startScaledObjectsCluster();
    const triggers = [cluster.trigger('/queue')];
    await cluster.scaledObject('absent', { triggers });
    const scaleTargetRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c' };
    await cluster.scaledObject('still', { scaleTargetRef, triggers });
    await cluster.lead();
    await reported(cluster, "absent ScaledObjectCheckFailed Target resource doesn't exist");
    await reported(
      cluster,
      "still ScaledObjectCheckFailed Target resource doesn't expose /scale subresource",
    );
    const step = "ScaledObject doesn't have correct scaleTargetRef specification";
    await cluster.untilMet(async () =>
      (await cluster.condition('still', 'Ready')).startsWith(`False ScaledObjectCheckFailed ${step}: `),
    );
    expect(await cluster.condition('still', 'Active')).to.equal(
      'Unknown UnknownState ScaledObject check failed',
    );
  });

  it('name the missing permission for a Secret or token, beside triggers that need none', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/open', 4);
    const authentication = async (name: string, spec: object) =>
      await cluster.create(PATHS.authentications, {
        ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'TriggerAuthentication', metadata: { name }, spec },
      });
    await authentication('login', { secretTargetRef: [{ parameter: 'apiKey', name: 'x', key: 'token' }] });
    await authentication('token', {
      boundServiceAccountToken: [{ parameter: 'apiKey', serviceAccountName: 'worker' }],
    });
    const locked = (name: string) =>
      cluster.trigger('/locked', { authenticationRef: { name }, metadata: { authModes: 'apiKey' } });
    for (const name of ['secret', 'token', 'beside']) await cluster.deployment(name, 1);
    await cluster.scaledObject('secret', { triggers: [locked('login')] });
    await cluster.scaledObject('token', { triggers: [locked('token')] });
    await cluster.scaledObject('beside', { triggers: [cluster.trigger('/open'), locked('login')] });
    refuse(cluster, ({ target }) => isOf(target, 'secrets'));
    await cluster.lead();
    const forbidden =
      'Cannot read Secret default/x: forbidden; grant it with a Role in namespace "default" that allows get on secrets "x"';
    const noAudience =
      'Cannot request a token of ServiceAccount default/worker: --bound-service-account-token-audience is not set';
    for (const [name, cause] of [
      ['secret', forbidden],
      ['token', noAudience],
    ] as const) {
      await cluster.untilMet(async () => (await cluster.condition(name, 'Ready')).startsWith('False'));
      expect(await cluster.condition(name, 'Ready')).to.include(cause);
    }
    await cluster.untilMet(() => cluster.external('s0-metric-api-value', 'beside') === '4');
    await cluster.untilMet(async () => (await cluster.condition('beside', 'Ready')).includes(forbidden));
  });

  it('report targets that cannot be scaled', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/filled', 0);
    cluster.source.set('/emptied', 1);
    await cluster.deployment('up', 0);
    await cluster.deployment('down', 2);
    await cluster.scaledObject('up', { triggers: [cluster.trigger('/filled')] });
    await cluster.scaledObject('down', { cooldownPeriod: 0, triggers: [cluster.trigger('/emptied')] });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('up', 'Active')).startsWith('False'));
    await cluster.untilMet(async () => (await cluster.condition('down', 'Active')).startsWith('True'));
    refuseScales(cluster);
    cluster.source.set('/filled', 1);
    cluster.source.set('/emptied', 0);
    await cluster.elapse(31);
    await reported(
      cluster,
      'up KEDAScaleTargetActivationFailed Failed to scale apps/v1.Deployment default/up from 0 to 1',
    );
    await reported(
      cluster,
      'down KEDAScaleTargetDeactivationFailed Failed to deactivate apps/v1.Deployment default/down from 2 to 0',
    );
  });

  it('report pauses that cannot begin, during which triggers are not polled', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 1);
    await cluster.deployment('web', 1);
    await cluster.scaledObject('web', { triggers: [cluster.trigger('/queue')] });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Ready')).startsWith('True'));
    expect(await cluster.condition('web', 'Fallback')).to.equal(
      'False NoFallbackFound No fallbacks are active on this scaled object',
    );
    refuse(cluster, ({ verb, target }) => verb === 'delete' && isOf(target, 'horizontalpodautoscalers'));
    await annotate(cluster, 'scaledobjects/web', { 'autoscaling.keda.sh/paused': 'true' });
    await reported(cluster, 'web KEDAScalersStopped Stopped scalers watch');
    await cluster.untilMet(async () =>
      (await cluster.condition('web', 'Ready')).startsWith(
        'False ScaledObjectCheckFailed failed to delete HPA for paused ScaledObject: ',
      ),
    );
    cluster.setFaults();
    await annotate(cluster, 'scaledobjects/web', { 'autoscaling.keda.sh/paused-replicas': 'many' });
    await cluster.untilMet(
      async () =>
        (await cluster.condition('web', 'Ready')) ===
        'False ScaledObjectCheckFailed failed to scale target to paused replica count: value "many" of annotation autoscaling.keda.sh/paused-replicas is not a number of replicas',
    );
  });

  it('report pauses that cannot be written, which then change nothing', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 1);
    await cluster.deployment('web', 1);
    await cluster.scaledObject('web', { triggers: [cluster.trigger('/queue')] });
    await scaledJob(cluster, [cluster.trigger('/queue', { metadata: { targetValue: '1' } })]);
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Ready')).startsWith('True'));
    await cluster.untilMet(async () => (await conditionOfJob(cluster, 'Ready')).startsWith('True'));
    refuse(cluster, ({ target }) => target.isResource && target.subresource === 'status');
    for (const path of ['scaledobjects/web', 'scaledjobs/work'])
      await annotate(cluster, path, { 'autoscaling.keda.sh/paused': 'true' });
    await cluster.untilMet(() =>
      cluster.events.some((one) => one.startsWith('web ScaledObjectUpdateFailed ')),
    );
    await cluster.untilMet(() => cluster.events.some((one) => one.startsWith('work ScaledJobUpdateFailed ')));
    expect((await cluster.get(`${PATHS.hpas}/keda-hpa-web`)).metadata.name).to.equal('keda-hpa-web');
    cluster.setFaults();
    await cluster.elapse(61);
    await cluster.untilMet(async () => (await cluster.condition('web', 'Paused')).startsWith('True'));
    await cluster.untilMet(async () => (await conditionOfJob(cluster, 'Paused')).startsWith('True'));
  });

  it('report statuses that cannot be written, and failing sources of a formula', async () => {
    await using cluster = await startScaledObjectsCluster();
    await cluster.deployment('web', 1);
    const scalingModifiers = { formula: 'a + 1', target: '2' };
    const triggers = [cluster.trigger('/broken', { name: 'a' })];
    await cluster.scaledObject('web', { advanced: { scalingModifiers }, triggers });
    refuse(cluster, ({ target }) => isOf(target, 'scaledobjects') && target.subresource === 'status');
    await cluster.lead();
    await cluster.untilMet(() => cluster.events.some((one) => one.startsWith('web KEDAMetricSourceFailed ')));
    await cluster.untilMet(() =>
      cluster.events.some((one) => one.startsWith('web ScaledObjectUpdateFailed ')),
    );
  });

  it('report failing triggers of a ScaledJob beside others, and rejected Jobs', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 0);
    const trigger = cluster.trigger('/queue', { metadata: { targetValue: '1' } });
    await scaledJob(cluster, [trigger, cluster.trigger('/broken')]);
    await cluster.lead();
    await cluster.untilMet(async () => (await conditionOfJob(cluster, 'Ready')).startsWith('False'));
    refuse(cluster, ({ verb, target }) => verb === 'create' && isOf(target, 'jobs'));
    cluster.source.set('/queue', 1);
    await cluster.elapse(31);
    await cluster.untilMet(() =>
      cluster.events.some((one) => one.startsWith('work KEDAJobCreateFailed Failed to create job work-: ')),
    );
    expect(cluster.events.filter((one) => one.includes('KEDAJobsCreated'))).to.deep.equal([]);
    await cluster.untilMet(
      async () =>
        (await conditionOfJob(cluster, 'Ready')) ===
        'Unknown PartialTriggerError Some triggers defined in ScaledJob are not working correctly',
    );
    cluster.setFaults();
    await annotate(cluster, 'scaledjobs/work', { 'autoscaling.keda.sh/paused': 'true' });
    await reported(cluster, 'work KEDAScalersStopped Stopped scalers watch');
  });

  it('report invalid triggers of a ScaledJob, and old Jobs that cannot be deleted', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 1);
    const twice = cluster.trigger('/queue', { name: 'a', metadata: { targetValue: '1' } });
    await scaledJob(cluster, [twice]);
    await cluster.lead();
    await reported(cluster, 'work KEDAJobsCreated Created 1 jobs');
    const [job] = (await cluster.get(PATHS.jobs)).items;
    refuse(cluster, ({ verb, target }) => verb === 'delete' && isOf(target, 'jobs'));
    const patch = async (spec: object) =>
      void (await cluster.api.patch(`${PATHS.scaledJobs}/work`, 'merge', { spec }));
    await patch({ maxReplicaCount: 7 });
    await reported(
      cluster,
      'work ScaledJobRolloutCleanupStarted Deleting 1 jobs owned by the previous version of the scaledJob',
    );
    const failed = `work ScaledJobRolloutCleanupFailed Failed to delete job ${job.metadata.name}: `;
    await cluster.untilMet(() => cluster.events.some((one) => one.startsWith(failed)));
    cluster.setFaults();
    await patch({ triggers: [twice, twice] });
    await cluster.untilMet(
      async () =>
        (await conditionOfJob(cluster, 'Ready')) ===
        "False ScaledJobCheckFailed ScaledJob doesn't have correct triggers specification",
    );
    expect(await conditionOfJob(cluster, 'Active')).to.equal('Unknown UnknownState ScaledJob check failed');
  });
});

async function reported(cluster: ScaledObjectsCluster, event: string): Promise<void> {
  await cluster.untilMet(() => cluster.events.includes(event));
}

function isOf(
  target: ApiRequest['target'],
  resource: string,
): target is ApiRequest['target'] & { isResource: true } {
  return target.isResource && target.resource === resource;
}

/** Rejects matching requests from now on. */
function refuse(cluster: ScaledObjectsCluster, isMeant: (request: ApiRequest) => boolean): void {
  const fault = refuseRequests({ code: 403, reason: 'Forbidden' });
  cluster.setFaults({
    serve: (request, context) => (isMeant(request) ? fault.serve(request, context) : context.next()),
  });
}

async function annotate(cluster: ScaledObjectsCluster, path: string, annotations: object): Promise<void> {
  const { status } = await cluster.api.patch(`/apis/keda.sh/v1alpha1/namespaces/default/${path}`, 'merge', {
    metadata: { annotations },
  });
  expect(status).to.equal(200);
}

async function scaledJob(cluster: ScaledObjectsCluster, triggers: readonly object[]): Promise<void> {
  const template = { spec: { containers: [{ name: 'main', image: 'worker' }] } };
  await cluster.create(PATHS.scaledJobs, {
    ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledJob', metadata: { name: 'work' } },
    spec: { jobTargetRef: { template }, triggers },
  });
}

async function conditionOfJob(cluster: ScaledObjectsCluster, type: string): Promise<string> {
  const { conditions = [] } = (await cluster.get(`${PATHS.scaledJobs}/work`)).status ?? {};
  const found = conditions.find((one: { type: string }) => one.type === type);
  return found ? [found.status, found.reason, found.message].filter(Boolean).join(' ') : '';
}
