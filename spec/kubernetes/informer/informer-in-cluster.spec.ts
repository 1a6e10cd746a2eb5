import { expect } from 'chai';
import { loadClusterAccess } from '#lib/kubernetes/access/load-cluster-access.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { Informer } from '#lib/kubernetes/informer/informer.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { systemClock as clock } from '#lib/time/clock.ts';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { eventually } from '#spec/support/eventually.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

describe('Informer in a simulated cluster', () => {
  let cluster: SimulatedCluster;
  let logger: RecordingLogger;
  let informer: Informer<string>;
  let stack: AsyncDisposableStack;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    cluster = stack.use(await startCluster({ nodes: 2, podsPerNode: 300 }));
    logger = new RecordingLogger();
    const kubeconfig = cluster.files.metricsServerKubeconfig;
    const access = await loadClusterAccess({ kubeconfig, clock, logger });
    const client = stack.use(new ApiClient({ access, clock, userAgent: 'spec' }));
    const collection = { path: '/api/v1/pods', fieldSelector: 'status.phase=Running', metadataOnly: true };
    informer = stack.use(new Informer({ client, clock, logger, collection, transform: nameOf }));
    informer.start();
    await informer.synced();
  });

  afterEach(async () => await stack.disposeAsync());

  it('caches every running pod of several pages', () => {
    expect([...informer.values()].sort()).to.deep.equal(namesIn(cluster));
    expect(informer.size).to.equal(600);
  });

  it('observes added and deleted pods', async () => {
    cluster.addPod({ namespace: 'default', name: 'new', node: 'node-1' });
    await eventually(() => informer.get('default', 'new') === 'new');
    cluster.deletePod('default', 'new');
    await eventually(() => informer.get('default', 'new') === undefined);
  });

  it('catches up after the API server was away', async () => {
    await cluster.apiServer.stop();
    await eventually(() => logger.lines.length === 1);
    cluster.addPod({ namespace: 'default', name: 'meanwhile', node: 'node-1' });
    expect(informer.size).to.equal(600);
    await cluster.apiServer.start();
    await eventually(() => informer.get('default', 'meanwhile') === 'meanwhile' && logger.lines.length === 2);
    expect(logger.lines.map(({ level }) => level)).to.deep.equal(['error', 'info']);
  });

  it('lists again when the watch version has expired', async () => {
    await cluster.apiServer.stop();
    const [gone = ''] = informer.values();
    const pod = cluster.store.list('pods').items.find(({ metadata }) => metadata.name === gone);
    cluster.deletePod(pod?.metadata.namespace ?? '', gone);
    cluster.store.compact();
    await cluster.apiServer.start();
    await eventually(() => informer.size === 599);
    expect([...informer.values()].sort()).to.deep.equal(namesIn(cluster));
  });
});

function nameOf(object: unknown): string {
  return String(propertyOf(propertyOf(object, 'metadata'), 'name'));
}

function namesIn(cluster: SimulatedCluster): string[] {
  return cluster.store
    .list('pods')
    .items.map(({ metadata }) => metadata.name)
    .sort();
}
