import { expect } from 'chai';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { ClusterClient, WatchReader } from '#spec/support/cluster-client.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { until } from '#spec/support/until.ts';

describe('serveWatch', () => {
  let clock: ManualClock;
  let cluster: SimulatedCluster;
  let client: ClusterClient;

  beforeEach(async () => {
    clock = new ManualClock();
    cluster = await startCluster({ nodes: 1, podsPerNode: 2, namespaces: ['default'] }, { clock });
    client = new ClusterClient(cluster);
  });
  afterEach(() => cluster[Symbol.asyncDispose]());

  const watch = async (query: string, accept = 'application/json') =>
    new WatchReader(await client.open(`/api/v1/pods?watch=true&${query}`, { headers: { Accept: accept } }));
  const now = () => `resourceVersion=${cluster.store.resourceVersion}`;

  it('begins with the existing objects if no version is given', async () => {
    using reader = await watch('');
    expect((await reader.take(2)).map(({ type }) => type)).to.deep.equal(['ADDED', 'ADDED']);
    cluster.addPod({ name: 'new', node: 'node-1' });
    expect((await reader.take(1))[0]?.object.metadata.name).to.equal('new');
  });

  it('sends ADDED or DELETED for an object that enters or leaves the selection', async () => {
    cluster.addPod({ name: 'a', node: 'node-1', phase: 'Pending' });
    using reader = await watch(`${now()}&fieldSelector=status.phase%3DRunning`);
    const pod = cluster.store.get('pods', 'default', 'a');
    expect(pod).not.to.equal(undefined);
    for (const phase of ['Running', 'Succeeded', 'Failed']) {
      const current = cluster.store.get('pods', 'default', 'a');
      if (current) cluster.store.update('pods', { ...current, status: { phase } });
    }
    const [added, deleted] = await reader.take(2);
    expect([added?.type, deleted?.type]).to.deep.equal(['ADDED', 'DELETED']);
    expect(deleted?.object.status.phase).to.equal('Running');
  });

  it('responds with 504 for a future version', async () => {
    const { status } = await client.request('/api/v1/pods?watch=true&resourceVersion=99999');
    expect(status).to.equal(504);
  });

  it('sends a bookmark every minute and before the end, and ends after timeoutSeconds', async () => {
    const reader = await watch(`${now()}&allowWatchBookmarks=true&timeoutSeconds=65`);
    await until(clock, () => clock.sleeperCount === 1);
    await clock.advance(60_000);
    await clock.advance(3_000);
    await clock.advance(2_000);
    const events = await reader.rest();
    expect(events.map(({ type }) => type)).to.deep.equal(['BOOKMARK', 'BOOKMARK']);
    expect(events[0]?.object).to.deep.include({
      kind: 'Pod',
      metadata: { resourceVersion: String(cluster.store.resourceVersion) },
    });
  });

  it('sends no bookmarks without allowWatchBookmarks', async () => {
    const reader = await watch(`${now()}&timeoutSeconds=120`);
    await until(clock, () => clock.sleeperCount === 1);
    await clock.advance(120_000);
    expect(await reader.rest()).to.deep.equal([]);
  });

  it('releases a watcher that disconnects', async () => {
    const reader = await watch(now());
    await until(clock, () => clock.sleeperCount === 1);
    reader[Symbol.dispose]();
    await until(clock, () => clock.sleeperCount === 0);
  });
});
