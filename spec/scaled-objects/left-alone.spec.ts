import { expect } from 'chai';
import {
  PATHS,
  type ScaledObjectsCluster,
  startScaledObjectsCluster,
} from '#spec/support/scaled-objects-cluster.ts';

const WEB = `${PATHS.scaledObjects}/web`;
const HPA = `${PATHS.hpas}/keda-hpa-web`;

describe('scaledObjectsSubsystem, beside another operator', () => {
  it('neither scales nor writes objects of another operator, and continues a while afterwards', async () => {
    await using cluster = await startScaledObjectsCluster();
    await using _ = await lead(cluster);
    await writtenByKeda(cluster, WEB);
    await cluster.untilMet(() => cluster.events.some((one) => one.startsWith('web AnotherControllerActs ')));
    const before = await cluster.get(HPA);
    await cluster.setReplicas('web', 0);
    await cluster.api.patch(WEB, 'merge', { spec: { maxReplicaCount: 7 } });
    await cluster.elapse(60);
    expect(await cluster.replicas('web')).to.equal(0);
    expect((await cluster.get(HPA)).metadata.resourceVersion).to.equal(before.metadata.resourceVersion);
    const [reported] = (await cluster.debug()).scaledObjects;
    expect(reported.managedByKeda).to.equal('"keda" writes the status of ScaledObject default/web');
    expect(reported).to.not.have.property('next');
    expect(cluster.subsystem.ui[0]?.summary()).to.include({
      ...{ count: 1, unhealthy: 0, waiting: '1 managed by another operator' },
    });
    await cluster.elapse(50);
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 1);
    expect((await cluster.get(HPA)).spec.maxReplicas).to.equal(7);
    expect((await cluster.debug()).scaledObjects[0].next).to.match(/^leave the replicas to the HPA/);
    expect(cluster.subsystem.ui[0]?.summary().waiting).to.equal(undefined);
  });

  it('gives an HPA up that KEDA takes from it, though nothing else of KEDA is seen', async () => {
    await using cluster = await startScaledObjectsCluster();
    await using _ = await lead(cluster);
    const take = { metadata: { labels: { 'app.kubernetes.io/version': '2.20.2' } } };
    await cluster.api.patch(`${HPA}?fieldManager=keda`, 'merge', take);
    await cluster.untilMet(() => cluster.events.some((one) => one.startsWith('web AnotherControllerActs ')));
    expect((await cluster.debug()).scaledObjects[0].managedByKeda).to.equal(
      '"keda" writes the HPA default/keda-hpa-web',
    );
    const version = async () => (await cluster.get(HPA)).metadata.labels['app.kubernetes.io/version'];
    await cluster.elapse(80);
    expect(await version()).to.equal('2.20.2');
    await cluster.elapse(30);
    await cluster.untilMet(async () => (await version()) === '1.2.3');
  });

  it('creates no Jobs of a ScaledJob while another operator writes its status', async () => {
    await using cluster = await startScaledObjectsCluster();
    const work = `${PATHS.scaledJobs}/work`;
    cluster.source.set('/jobs', 0);
    await cluster.create(PATHS.scaledJobs, {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledJob', metadata: { name: 'work' } },
      spec: {
        jobTargetRef: { template: { spec: { containers: [{ name: 'main', image: 'worker' }] } } },
        triggers: [cluster.trigger('/jobs', { metadata: { targetValue: '1' } })],
      },
    });
    await using _ = await lead(cluster);
    await cluster.untilMet(async () => (await cluster.get(work)).status?.externalMetricNames !== undefined);
    await writtenByKeda(cluster, work);
    await cluster.untilMet(() => cluster.events.some((one) => one.startsWith('work AnotherControllerActs ')));
    cluster.source.set('/jobs', 2);
    await cluster.elapse(60);
    const jobs = async () => (await cluster.get(PATHS.jobs)).items.length;
    expect(await jobs()).to.equal(0);
    await cluster.elapse(50);
    await cluster.untilMet(async () => (await jobs()) === 2);
  });
});

/** Makes it act on an active object, and checks for other controllers. */
async function lead(cluster: ScaledObjectsCluster): Promise<AsyncDisposable> {
  cluster.source.set('/queue', 5);
  await cluster.deployment('web', 1);
  await cluster.scaledObject('web', { triggers: [cluster.trigger('/queue')] });
  await cluster.lead();
  const ending = new AbortController();
  const checking = cluster.subsystem.runWhileSoleOperator(
    ending.signal,
    (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
  );
  await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
  await cluster.untilMet(async () => (await cluster.get(HPA)).metadata !== undefined);
  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      await checking;
    },
  };
}

async function writtenByKeda(cluster: ScaledObjectsCluster, path: string): Promise<void> {
  const lastActiveTime = new Date(cluster.clock.nowMs()).toISOString();
  const body = { status: { lastActiveTime } };
  const { status } = await cluster.api.patch(`${path}/status?fieldManager=keda`, 'merge', body);
  expect(status).to.equal(200);
}
