import { expect } from 'chai';
import { ExternalScalerServer } from '#spec/support/external-scaler-server.ts';
import { PATHS, startScaledObjectsCluster } from '#spec/support/scaled-objects-cluster.ts';

describe('scaledObjectsSubsystem, with a scaler that pushes', () => {
  const idle = () => ({
    specs: [{ metricName: 'queue', targetSize: 5 }],
    values: [{ metricName: 'queue', metricValue: 0 }],
    isActive: false,
  });
  const start = async (stack: AsyncDisposableStack) => {
    const scaler = stack.use(await ExternalScalerServer.start(idle()));
    const cluster = stack.use(await startScaledObjectsCluster());
    await cluster.deployment('web', 0);
    const metadata = { scalerAddress: `127.0.0.1:${scaler.port}` };
    const triggers = [{ type: 'external-push', metadata }];
    await cluster.scaledObject('web', { pollingInterval: 3600, cooldownPeriod: 10, triggers });
    await cluster.lead();
    await cluster.untilMet(() => scaler.streams.size === 1);
    await cluster.untilMet(() => cluster.external('s0-queue', 'web') === '0');
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('False'));
    return { scaler, cluster };
  };

  it('scales from zero immediately when a value is pushed, and serves that value', async () => {
    await using stack = new AsyncDisposableStack();
    const { scaler, cluster } = await start(stack);
    scaler.responses = { ...idle(), values: [{ metricName: 'queue', metricValue: 12 }], isActive: true };
    scaler.push(true);
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 1);
    await cluster.untilMet(() => cluster.external('s0-queue', 'web') === '12');
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
  });

  it('activates by the push alone, and does nothing for false', async () => {
    await using stack = new AsyncDisposableStack();
    const { scaler, cluster } = await start(stack);
    const before = scaler.calls.length;
    scaler.push(false);
    await cluster.elapse(2);
    expect([await cluster.replicas('web'), scaler.calls.length]).to.deep.equal([0, before]);
    scaler.push(true);
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 1);
  });

  it('activates by any of several scalers that push, names it, and loses no push', async () => {
    await using stack = new AsyncDisposableStack();
    const scalers = [1, 2].map(async () => stack.use(await ExternalScalerServer.start(idle())));
    const [first, second] = (await Promise.all(scalers)) as [ExternalScalerServer, ExternalScalerServer];
    const cluster = stack.use(await startScaledObjectsCluster());
    await cluster.deployment('web', 0);
    const trigger = (port: number, queue: string) => ({
      ...{ type: 'external-push', metadata: { scalerAddress: `127.0.0.1:${port}`, queue } },
    });
    const triggers = [trigger(first.port, 'a'), trigger(second.port, 'b'), trigger(second.port, 'c')];
    await cluster.scaledObject('web', { pollingInterval: 3600, cooldownPeriod: 1, triggers });
    await cluster.lead();
    await cluster.untilMet(() => first.streams.size === 1 && second.streams.size === 2);
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('False'));
    const woken = () => cluster.events.filter((event) => event.includes('KEDAScaleTargetActivated'));
    first.push(true);
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 1);
    expect(woken()).to.deep.equal([
      'web KEDAScaleTargetActivated Scaled apps/v1.Deployment default/web from 0 to 1, triggered by s0-queue',
    ]);
    await cluster.elapse(6); // the lifetime of a pushed value
    await cluster.setReplicas('web', 0);
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('False'));
    await first[Symbol.asyncDispose]();
    const [, third] = [...second.streams];
    third?.write({ result: true });
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 1);
    expect(woken()[1]).to.match(/triggered by s[12]-queue$/);
    expect(second.streams.size).to.equal(2);
  });

  it('listens no more when the object is deleted', async () => {
    await using stack = new AsyncDisposableStack();
    const { scaler, cluster } = await start(stack);
    await cluster.api.delete('/apis/keda.sh/v1alpha1/namespaces/default/scaledobjects/web');
    await cluster.untilMet(() => scaler.streams.size === 0);
  });

  it('makes Jobs when it is pushed, and listens no more when the ScaledJob is deleted', async () => {
    await using scaler = await ExternalScalerServer.start(idle());
    await using cluster = await startScaledObjectsCluster();
    const triggers = [{ type: 'external-push', metadata: { scalerAddress: `127.0.0.1:${scaler.port}` } }];
    const template = {
      metadata: { labels: { app: 'work' } },
      spec: { restartPolicy: 'OnFailure', containers: [{ name: 'main', image: 'work' }] },
    };
    await cluster.create(PATHS.scaledJobs, {
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'ScaledJob',
      metadata: { name: 'work' },
      spec: { pollingInterval: 3600, jobTargetRef: { template }, triggers },
    });
    await cluster.lead();
    await cluster.untilMet(() => scaler.streams.size === 1);
    const jobs = async () =>
      (await cluster.get('/apis/batch/v1/namespaces/default/jobs')).items.length as number;
    expect(await jobs()).to.equal(0);
    scaler.responses = { ...idle(), values: [{ metricName: 'queue', metricValue: 15 }], isActive: true };
    scaler.push(true);
    await cluster.untilMet(async () => (await jobs()) === 3);
    await cluster.api.delete(`${PATHS.scaledJobs}/work`);
    await cluster.untilMet(() => scaler.streams.size === 0);
  });
});
