import { expect } from 'chai';
import {
  addUnknownEvents,
  conflictWrites,
  delayResponses,
  delayWatches,
  dropBookmarks,
  dropEvents,
  endWatches,
  forRequests,
  refuseRequests,
  repeatEvents,
  swapEvents,
} from '#simulator/api-server/faults.ts';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { ClusterClient, WatchReader } from '#spec/support/cluster-client.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { until } from '#spec/support/until.ts';

describe('ApiFault', () => {
  let clock: ManualClock;
  let cluster: SimulatedCluster;
  let client: ClusterClient;

  beforeEach(async () => {
    clock = new ManualClock();
    cluster = await startCluster({ nodes: 1, podsPerNode: 0, namespaces: ['default'] }, { clock });
    client = new ClusterClient(cluster);
  });
  afterEach(() => cluster[Symbol.asyncDispose]());

  /** The names in the next events of a new watch, with `pods` created while it is open. */
  async function watched(count: number, ...pods: readonly string[]): Promise<readonly unknown[]> {
    const path = `/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=${cluster.store.resourceVersion}`;
    using reader = new WatchReader(await client.open(path));
    for (const name of pods) cluster.addPod({ name, node: 'node-1' });
    return (await reader.take(count)).map(({ type, object }) => `${type} ${object.metadata?.name}`);
  }

  it('refuses, with the time to wait', async () => {
    cluster.apiServer.setFaults(
      refuseRequests({ code: 429, reason: 'TooManyRequests', retryAfterSeconds: 3 }),
    );
    const { status, headers, body } = await client.request('/api/v1/nodes');
    expect([status, headers['retry-after']]).to.deep.equal([429, '3']);
    expect(JSON.parse(body)).to.include({ kind: 'Status', reason: 'TooManyRequests' });
    cluster.apiServer.setFaults();
    expect((await client.request('/api/v1/nodes')).status).to.equal(200);
  });

  it('affects matching requests only', async () => {
    const refuse = refuseRequests({ code: 500, reason: 'InternalError' });
    cluster.apiServer.setFaults(forRequests({ verb: 'list', resource: 'nodes' }, refuse));
    expect((await client.request('/api/v1/nodes')).status).to.equal(500);
    expect((await client.request('/api/v1/nodes/node-1')).status).to.equal(200);
    expect((await client.request('/api/v1/pods')).status).to.equal(200);
  });

  it('refuses the first writes with a conflict', async () => {
    cluster.apiServer.setFaults(conflictWrites(1));
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    const label = () =>
      client.json('/api/v1/nodes/node-1', {
        method: 'PATCH',
        headers,
        body: '{"metadata":{"labels":{"a":"b"}}}',
      });
    expect(await label()).to.deep.include({
      code: 409,
      reason: 'Conflict',
      details: { name: 'node-1', kind: 'nodes' },
    });
    expect((await label()).metadata.labels).to.include({ a: 'b' });
  });

  it('delays responses', async () => {
    cluster.apiServer.setFaults(delayResponses(5000));
    const response = client.request('/api/v1/nodes');
    await until(clock, () => clock.sleeperCount > 0);
    await clock.advance(4999);
    expect(await Promise.race([response, 'nothing yet'])).to.equal('nothing yet');
    await clock.advance(1);
    expect((await response).status).to.equal(200);
  });

  it('ends watches', async () => {
    cluster.apiServer.setFaults(endWatches(1000));
    using reader = new WatchReader(await client.open('/api/v1/pods?watch=true'));
    await until(clock, () => clock.sleeperCount > 0);
    await clock.advance(1000);
    expect(await reader.rest()).to.deep.equal([]);
  });

  it('sends events late and in their order', async () => {
    cluster.apiServer.setFaults(delayWatches(5000));
    const path = `/api/v1/pods?watch=true&timeoutSeconds=20&resourceVersion=${cluster.store.resourceVersion}`;
    using reader = new WatchReader(await client.open(path));
    await until(clock, () => clock.sleeperCount > 0);
    cluster.addPod({ name: 'a', node: 'node-1' });
    await clock.advance(4000);
    cluster.addPod({ name: 'b', node: 'node-1' });
    let reported: readonly string[] | undefined;
    const reading = reader.take(2).then((events) => {
      reported = events.map(({ object }) => object.metadata.name);
    });
    await clock.advance(4999);
    await client.request('/api/v1/nodes');
    expect(reported).to.equal(undefined);
    await clock.advance(1);
    await reading;
    expect(reported).to.deep.equal(['a', 'b']);
    cluster.addPod({ name: 'c', node: 'node-1' });
    await clock.advance(9000);
    cluster.addPod({ name: 'lost with the end of the watch', node: 'node-1' });
    await clock.advance(2000);
    expect((await reader.rest()).map(({ object }) => object.metadata.name)).to.deep.equal(['c']);
    expect(clock.sleeperCount).to.equal(0);
  });

  it('repeats, swaps and invents events', async () => {
    cluster.apiServer.setFaults(repeatEvents);
    expect(await watched(4, 'a', 'b')).to.deep.equal(['ADDED a', 'ADDED a', 'ADDED b', 'ADDED b']);
    cluster.apiServer.setFaults(swapEvents);
    expect(await watched(2, 'c', 'd')).to.deep.equal(['ADDED d', 'ADDED c']);
    cluster.apiServer.setFaults(addUnknownEvents);
    expect(await watched(3, 'e')).to.deep.equal(['TRANSMUTED x', 'ADDED undefined', 'ADDED e']);
  });

  it('drops bookmarks, or all events', async () => {
    const path = '/api/v1/pods?watch=true&allowWatchBookmarks=true&timeoutSeconds=10&resourceVersion=';
    for (const fault of [dropBookmarks, dropEvents]) {
      cluster.apiServer.setFaults(fault);
      using reader = new WatchReader(await client.open(path + cluster.store.resourceVersion));
      cluster.addPod({ name: fault === dropEvents ? 'muted' : 'heard', node: 'node-1' });
      await until(clock, () => clock.sleeperCount > 0);
      await clock.advance(10_000);
      const names = (await reader.rest()).map(({ object }) => object.metadata.name);
      expect(names).to.deep.equal(fault === dropEvents ? [] : ['heard']);
    }
  });
});
