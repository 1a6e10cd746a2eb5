import { expect } from 'chai';
import { ScaledJobStates } from '#lib/scaled-objects/jobs/job-context.ts';
import { scaledJobController } from '#lib/scaled-objects/jobs/scaled-job-controller.ts';
import { forRequests, refuseRequests } from '#simulator/api-server/faults.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import {
  PATHS,
  type ScaledObjectsCluster,
  startScaledObjectsCluster,
} from '#spec/support/scaled-objects-cluster.ts';

describe('scaledJobController', () => {
  it('makes a Job for each message, and none twice though it is killed', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 7);
    await scaledJob(cluster, { maxReplicaCount: 20 });
    await cluster.lead();
    await cluster.untilMet(async () => (await jobsOf(cluster)).length === 7);
    const [job] = await jobsOf(cluster);
    expect(job.metadata.name).to.match(/^work-/);
    expect(job.metadata.labels).to.deep.include({
      'scaledjob.keda.sh/name': 'work',
      'app.kubernetes.io/managed-by': 'keda-operator',
    });
    expect(job.metadata.annotations['scaledjob.keda.sh/generation']).to.equal('1');
    expect(job.spec.template.spec.restartPolicy).to.equal('OnFailure');
    expect(cluster.events).to.include.members([
      'work KEDAScalersStarted Started scalers watch',
      'work KEDAScalersStarted Scaler metrics-api is built',
      'work KEDAJobsCreated Created 7 jobs',
      'work ScaledJobReady ScaledJob is ready for scaling',
      'work ScaledJobActive Scaling is performed because triggers are active',
    ]);
    for (let kill = 0; kill < 2; kill++) {
      await cluster.stop();
      await cluster.lead();
      await cluster.elapse(31);
    }
    expect(await jobsOf(cluster)).to.have.lengthOf(7);
    cluster.source.set('/queue', 50);
    await cluster.elapse(31);
    await cluster.untilMet(async () => (await jobsOf(cluster)).length === 20);
    expect(await conditionOf(cluster, 'Ready')).to.equal(
      'True ScaledJobReady ScaledJob is defined correctly and is ready for scaling',
    );
    expect(await conditionOf(cluster, 'Active')).to.match(/^True ScalerActive /);
    cluster.source.set('/queue', 0);
    await cluster.elapse(31);
    await cluster.untilMet(() =>
      cluster.events.includes(
        'work ScaledJobInactive Scaling is not performed because triggers are not active',
      ),
    );
  });

  it('deletes Jobs of earlier generations when it changes, and none when it is paused', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 2);
    await scaledJob(cluster, {});
    await cluster.lead();
    await cluster.untilMet(async () => (await jobsOf(cluster)).length === 2);
    const before = (await jobsOf(cluster)).map(({ metadata }) => metadata.uid);
    cluster.source.set('/queue', 0);
    await cluster.api.patch(`${PATHS.scaledJobs}/work`, 'merge', {
      metadata: { annotations: { 'autoscaling.keda.sh/paused': 'true' } },
    });
    await cluster.untilMet(async () => (await conditionOf(cluster, 'Paused')).startsWith('True'));
    expect((await jobsOf(cluster)).map(({ metadata }) => metadata.uid)).to.deep.equal(before);
    expect(await conditionOf(cluster, 'Active')).to.equal('Unknown ScaledJobPaused ScaledJob is paused');
    expect(await conditionOf(cluster, 'Ready')).to.equal(
      'True ScaledJobReady ScaledJob is paused, skipping reconcile loop',
    );
    await cluster.api.patch(`${PATHS.scaledJobs}/work`, 'merge', {
      metadata: { annotations: { 'autoscaling.keda.sh/paused': null } },
      spec: { maxReplicaCount: 3 },
    });
    await cluster.untilMet(async () => (await jobsOf(cluster)).length === 0);
    expect(cluster.events).to.include.members([
      'work ScaledJobPaused ScaledJob is paused',
      'work ScaledJobUnpaused ScaledJob is unpaused',
      'work ScaledJobRolloutCleanupCompleted Deleted 2 jobs owned by the previous version of the scaledJob',
    ]);
  });

  for (const [field, rollout] of [
    ['rollout', { rollout: { strategy: 'gradual' } }],
    ['rolloutStrategy', { rolloutStrategy: 'gradual' }],
  ] as const)
    it(`retains Jobs of earlier generations, and counts them, if ${field} is gradual`, async () => {
      await using cluster = await startScaledObjectsCluster();
      cluster.source.set('/queue', 2);
      await scaledJob(cluster, rollout);
      await cluster.lead();
      await cluster.untilMet(async () => (await jobsOf(cluster)).length === 2);
      const before = (await jobsOf(cluster)).map(({ metadata }) => metadata.uid);
      cluster.source.set('/queue', 3);
      await cluster.api.patch(`${PATHS.scaledJobs}/work`, 'merge', { spec: { maxReplicaCount: 9 } });
      await cluster.elapse(31);
      await cluster.untilMet(async () => (await jobsOf(cluster)).length === 3);
      const generations = (await jobsOf(cluster)).map(
        ({ metadata }) => metadata.annotations['scaledjob.keda.sh/generation'],
      );
      expect(generations.sort()).to.deep.equal(['1', '1', '2']);
      expect((await jobsOf(cluster)).map(({ metadata }) => metadata.uid)).to.include.members(before);
      expect(cluster.events.filter((event) => event.includes('Rollout'))).to.deep.equal([]);
    });

  for (const strategy of ['accurate', 'eager', 'custom'] as const)
    it(`makes Jobs of no response twice with several triggers, one of them failing, and ${strategy}`, async () => {
      await using cluster = await startScaledObjectsCluster();
      cluster.source.set('/a', 0).set('/b', 4);
      const trigger = (path: string) => cluster.trigger(path, { metadata: { targetValue: '1' } });
      const scalingStrategy = { strategy, customScalingRunningJobPercentage: '0' };
      await scaledJob(cluster, { scalingStrategy, triggers: [trigger('/a')] });
      await cluster.lead();
      await cluster.untilMet(() => cluster.requested('/a') > 0);
      await cluster.elapse(10); // so that /b is polled 10 s after /a
      await cluster.api.patch(`${PATHS.scaledJobs}/work`, 'merge', {
        spec: { triggers: [trigger('/a'), trigger('/b')] },
      });
      const count = async () => (await jobsOf(cluster)).length;
      const setAtWork = async () => {
        for (const { metadata } of await jobsOf(cluster)) await runningPod(cluster, metadata.name);
      };
      // Each time here is of the last poll before it: /a at 30, 60 and so on, /b at 10, 40 and so on.
      for (const [seconds, jobs] of [
        [10, 0], // 10: /a has returned nothing new
        [12, 4], // 30
        [13, 4], // 40: /a's result of 30 has been used
        [17, 8], // 60
      ] as const) {
        await cluster.elapse(seconds);
        await cluster.untilMet(async () => (await count()) === jobs);
        await setAtWork();
      }
      cluster.source.set('/a', { status: 500 });
      for (const [seconds, jobs] of [
        [30, 12], // 90: /a fails, so /b's result of 70 is used alone
        [12, 16], // 100
        [20, 16], // 120: another failure of /a is no demand of /b
      ] as const) {
        await cluster.elapse(seconds);
        await cluster.untilMet(async () => (await count()) === jobs);
        await setAtWork();
      }
      expect([cluster.requested('/a'), cluster.requested('/b')]).to.deep.equal([5, 4]);
    });

  it('reports unknown keys of a trigger', async () => {
    await using cluster = await startScaledObjectsCluster();
    const trigger = cluster.trigger('/queue', { name: 'queue', metadata: { activationValue: '2' } });
    await scaledJob(cluster, { triggers: [trigger] });
    await cluster.lead();
    const reported =
      'work KEDAScalerInfo Unmatched input property activationValue in scaler metrics-api (queue)';
    await cluster.untilMet(() => cluster.events.includes(reported));
  });

  it('reports failing triggers and creates no Jobs', async () => {
    await using cluster = await startScaledObjectsCluster();
    await scaledJob(cluster, {});
    await cluster.lead();
    await cluster.untilMet(async () => (await conditionOf(cluster, 'Ready')).startsWith('False'));
    expect(await conditionOf(cluster, 'Ready')).to.equal(
      'False TriggerError Triggers defined in ScaledJob are not working correctly',
    );
    expect(await jobsOf(cluster)).to.deep.equal([]);
  });

  it('makes Jobs of the first response of a source that is another one now', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 0);
    cluster.source.set('/other', 3);
    await scaledJob(cluster, {});
    await cluster.lead();
    await cluster.untilMet(async () => (await conditionOf(cluster, 'Active')).startsWith('False'));
    const triggers = [cluster.trigger('/other', { metadata: { targetValue: '1' } })];
    await cluster.api.patch(`${PATHS.scaledJobs}/work`, 'merge', { spec: { triggers } });
    await cluster.untilMet(async () => (await jobsOf(cluster)).length === 3);
  });

  it('continues with cached credentials if they cannot be read again, and if Jobs cannot be checked', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 0);
    await cluster.create(PATHS.secrets, {
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { key: 'secret' } },
    });
    await cluster.create(PATHS.authentications, {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'TriggerAuthentication', metadata: { name: 'keys' } },
      spec: { secretTargetRef: [{ parameter: 'apiKey', name: 's', key: 'key' }] },
    });
    const trigger = cluster.trigger('/queue', {
      authenticationRef: { name: 'keys' },
      metadata: { targetValue: '1', authMode: 'apiKey' },
    });
    await scaledJob(cluster, { triggers: [trigger] });
    await cluster.lead();
    await cluster.untilMet(async () => (await conditionOf(cluster, 'Active')).startsWith('False'));
    const refuse = refuseRequests({ code: 500, reason: 'InternalError' });
    cluster.setFaults(forRequests({ resource: 'secrets' }, refuse));
    await cluster.elapse(310); // credentials are read again after five minutes
    expect(await conditionOf(cluster, 'Ready')).to.match(/^True /);
    cluster.source.set('/queue', 2);
    await cluster.elapse(31);
    await cluster.untilMet(async () => (await jobsOf(cluster)).length === 2);

    await cluster.stop();
    cluster.source.set('/queue', 3);
    const before = cluster.events.length;
    await cluster.lead();
    await cluster.elapse(31);
    expect(await conditionOf(cluster, 'Ready')).to.match(/^True /); // unknown, which is not an error of the object
    expect(cluster.events.slice(before)).to.deep.equal([]);
    cluster.setFaults();
    await cluster.elapse(31);
    await cluster.untilMet(async () => (await jobsOf(cluster)).length === 3);
  });

  it('leaves the status unchanged when another replica begins to lead', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 0);
    await scaledJob(cluster, {});
    await cluster.lead();
    await cluster.untilMet(async () => (await conditionOf(cluster, 'Active')).startsWith('False'));
    const before = await cluster.get(`${PATHS.scaledJobs}/work`);
    expect(Object.values(before.status.triggersActivity)).to.deep.equal([{ isActive: false }]);
    await cluster.stop();
    const polls = cluster.requested('/queue');
    await cluster.lead();
    await cluster.elapse(61);
    expect(cluster.requested('/queue')).to.be.above(polls);
    const after = await cluster.get(`${PATHS.scaledJobs}/work`);
    expect(after.metadata.resourceVersion).to.equal(before.metadata.resourceVersion);
  });

  it('reports no recovery when another replica begins to lead while a trigger fails', async () => {
    await using cluster = await startScaledObjectsCluster();
    await scaledJob(cluster, {});
    await cluster.lead();
    await cluster.untilMet(async () => (await conditionOf(cluster, 'Ready')).startsWith('False'));
    const before = await cluster.get(`${PATHS.scaledJobs}/work`);
    await cluster.stop();
    const events = cluster.events.length;
    await cluster.lead();
    await cluster.elapse(61);
    expect(cluster.events.slice(events).join())
      .to.include('KEDAScalerFailed')
      .and.not.include('ScaledJobReady');
    const after = await cluster.get(`${PATHS.scaledJobs}/work`);
    expect(after.metadata.resourceVersion).to.equal(before.metadata.resourceVersion);
  });

  it('rejects a metricType, and can be deleted', async () => {
    await using cluster = await startScaledObjectsCluster();
    await scaledJob(cluster, { triggers: [{ ...cluster.trigger('/queue'), metricType: 'Value' }] });
    await cluster.lead();
    await cluster.untilMet(async () => (await conditionOf(cluster, 'Ready')).startsWith('False'));
    expect(await conditionOf(cluster, 'Ready')).to.equal(
      'False ScaledJobCheckFailed Cannot set metricType in ScaledJob triggers',
    );
    await cluster.api.delete(`${PATHS.scaledJobs}/work`);
    await cluster.untilMet(async () => (await cluster.get(`${PATHS.scaledJobs}/work`)).code === 404);
    expect(cluster.events).to.include('work ScaledJobDeleted ScaledJob was deleted');
  });
});

describe('scaledJobController, of a deleted object', () => {
  it('stops its polls and deletes its state', async () => {
    const requested = new Map<string, number>();
    const states = new ScaledJobStates({
      clock: new ManualClock(),
      ...{ findTriggers: () => undefined, onEvaluate: () => {} },
    });
    const deleted: string[] = [];
    for (const key of ['default/work', 'default/other']) {
      states.of(key).started = { uid: 'u', generation: 1 };
      requested.set(key, 1).set(`pushes ${key}`, 1);
    }
    const controller = scaledJobController({
      ...{ objects: { find: () => undefined }, related: [], polled: {}, states },
      prepared: { delete: (key: string) => deleted.push(key) },
      collection: {
        replace: (key: string, { size }: ReadonlyMap<string, unknown>) => requested.set(key, size),
      },
      pushes: {
        replace: (key: string, { length }: readonly unknown[]) => requested.set(`pushes ${key}`, length),
      },
    } as never);
    expect(await controller.reconcile('default/work', new AbortController().signal)).to.deep.equal({});
    expect(deleted).to.deep.equal(['default/work']);
    expect([states.isStarted('default/work'), states.isStarted('default/other')]).to.deep.equal([
      ...[false, true],
    ]);
    expect(Object.fromEntries(requested)).to.deep.equal({
      ...{ 'default/work': 0, 'pushes default/work': 0, 'default/other': 1, 'pushes default/other': 1 },
    });
  });
});

async function scaledJob(cluster: ScaledObjectsCluster, spec: object): Promise<void> {
  await cluster.create(PATHS.scaledJobs, {
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledJob',
    metadata: { name: 'work' },
    spec: {
      jobTargetRef: { template: { spec: { containers: [{ name: 'main', image: 'worker' }] } } },
      triggers: [cluster.trigger('/queue', { metadata: { targetValue: '1' } })],
      ...spec,
    },
  });
}

/** Runs a pod of a Job, unless there is one. */
async function runningPod(cluster: ScaledObjectsCluster, job: string): Promise<void> {
  const pods = '/api/v1/namespaces/default/pods';
  const name = `${job}-pod`;
  if ((await cluster.get(`${pods}/${name}`)).code !== 404) return;
  await cluster.create(pods, {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { name, labels: { 'job-name': job, 'scaledjob.keda.sh/name': 'work' } },
    spec: { containers: [{ name: 'main', image: 'worker' }] },
  });
  const { status } = await cluster.api.patch(`${pods}/${name}/status`, 'merge', {
    status: { phase: 'Running' },
  });
  expect(status).to.equal(200);
}

async function jobsOf(cluster: ScaledObjectsCluster): Promise<ReturnType<typeof JSON.parse>[]> {
  const { items } = await cluster.get(`${PATHS.jobs}?labelSelector=scaledjob.keda.sh/name=work`);
  return items.filter((job: { metadata: { deletionTimestamp?: string } }) => !job.metadata.deletionTimestamp);
}

async function conditionOf(cluster: ScaledObjectsCluster, type: string): Promise<string> {
  const { conditions = [] } = (await cluster.get(`${PATHS.scaledJobs}/work`)).status ?? {};
  const found = conditions.find((one: { type: string }) => one.type === type);
  return found ? [found.status, found.reason, found.message].filter(Boolean).join(' ') : '';
}
