import { expect } from 'chai';
import { fieldAt } from '#simulator/objects/kubernetes-object.ts';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('PodRunner', () => {
  const clock = new ManualClock();
  let cluster: SimulatedCluster;

  beforeEach(async () => {
    cluster = await startCluster({ nodes: 2, podsPerNode: 0 }, { clock });
  });
  afterEach(() => cluster[Symbol.asyncDispose]());

  const runningOn = (node: string) => [...cluster.node(node).machine.pods()].map(({ name }) => name);

  it('runs a pod on the node that it is bound to, until it is deleted', () => {
    cluster.addPod({ name: 'a', node: 'node-1' });
    expect([runningOn('node-1'), runningOn('node-2')]).to.deep.equal([['a'], []]);
    cluster.deletePod('default', 'a');
    expect(runningOn('node-1')).to.deep.equal([]);
  });

  it('does not run pending or ended pods', () => {
    cluster.addPod({ name: 'a', node: 'node-1', phase: 'Pending' });
    expect(runningOn('node-1')).to.deep.equal([]);
    const setPhase = (phase: string) => {
      const pod = cluster.store.get('pods', 'default', 'a');
      if (pod) cluster.store.update('pods', { ...pod, status: { phase } });
    };
    setPhase('Running');
    expect(runningOn('node-1')).to.deep.equal(['a']);
    setPhase('Succeeded');
    expect(runningOn('node-1')).to.deep.equal([]);
  });

  it('runs a new pod of the same name', () => {
    const first = cluster.addPod({ name: 'a', node: 'node-1' });
    cluster.deletePod('default', 'a');
    const second = cluster.addPod({ name: 'a', node: 'node-2' });
    expect(second.metadata.uid).not.to.equal(first.metadata.uid);
    expect([runningOn('node-1'), runningOn('node-2')]).to.deep.equal([[], ['a']]);
  });

  it('restarts a container in kubelet and API server alike', async () => {
    cluster.addPod({ name: 'a', node: 'node-1', startedSecondsAgo: 60 });
    const path = { namespace: 'default', pod: 'a', container: 'main' };
    cluster.restartContainer(path);
    expect(cluster.truth.container(path).cpuCoreNanoseconds(clock.monotonicMs())).to.equal(0);
    const pod = cluster.store.get('pods', 'default', 'a');
    const [status] = fieldAt(pod, 'status', 'containerStatuses') as { restartCount: number }[];
    expect(status?.restartCount).to.equal(1);
  });

  it("counts earlier usage of pods in the node's counters", async () => {
    const perSecond = (node: string) =>
      cluster.truth.nodeUsage(node, { fromMs: clock.nowMs() - 20_000, toMs: clock.nowMs() }).cpuNanocores;
    const containers = [{ name: 'c', cpuMillicores: 500, memoryBytes: 4096 }];
    const before = perSecond('node-1');
    cluster.addPod({ name: 'a', node: 'node-1', startedSecondsAgo: 3600, containers });
    expect(perSecond('node-1')).to.equal(before);
    const name = await cluster.addNode('crowded', { pods: 3 });
    expect(perSecond(name)).to.be.greaterThan(before);
  });

  it('refuses a pod for a node that is not there', () => {
    expect(() => cluster.addPod({ name: 'a', node: 'node-9' })).to.throw(
      'Cannot add pod "a": there is no node "node-9"',
    );
  });
});
