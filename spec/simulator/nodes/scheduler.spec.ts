import { expect } from 'chai';
import { fieldAt } from '#simulator/objects/kubernetes-object.ts';
import { startCluster } from '#simulator/simulated-cluster.ts';
import { ClusterClient } from '#spec/support/cluster-client.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('Scheduler', () => {
  it('binds pods without a node to nodes round robin, which run them', async () => {
    const clock = new ManualClock();
    await using cluster = await startCluster({ nodes: 2, podsPerNode: 0 }, { clock });
    const client = new ClusterClient(cluster);
    const events: string[] = [];
    using _subscription = cluster.store.subscribe(({ type, object }) => {
      events.push(`${type} ${object.metadata.name} ${fieldAt(object, 'status', 'phase')}`);
    });
    for (const name of ['a', 'b']) {
      const pod = { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } };
      await client.request('/api/v1/namespaces/default/pods', { method: 'POST', body: JSON.stringify(pod) });
    }
    expect(events).to.deep.equal([
      'ADDED a Pending',
      'MODIFIED a Running',
      'ADDED b Pending',
      'MODIFIED b Running',
    ]);
    const running = [...cluster.truth.pods()].map(({ nodeName, pod }) => `${pod.name} on ${nodeName}`);
    expect(running).to.deep.equal(['a on node-1', 'b on node-2']);
    expect(
      cluster.truth.podUsage({ namespace: 'default', pod: 'a' }, window(clock)).memoryBytes,
    ).to.be.greaterThan(0);
  });

  function window(clock: ManualClock) {
    return { fromMs: clock.nowMs(), toMs: clock.nowMs() + 1000 };
  }
});
