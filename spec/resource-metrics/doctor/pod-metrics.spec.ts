import { expect } from 'chai';
import { examine, startExaminedCluster } from '#spec/support/examined-cluster.ts';
import type { RunningServer } from '#spec/support/running-server.ts';

describe('podMetrics', () => {
  it('reports a running pod that its kubelet does not report', async () => {
    await using server = await startExaminedCluster({
      nodes: 1,
      pods: [{ name: 'vanished', node: 'node-1', startedSecondsAgo: 600 }],
    });
    remove(server, 'vanished');
    server.cluster.rbac.revoke('doctor');
    const { diagnoses, findings } = await examine(server);
    expect(diagnoses).to.deep.equal(['pod-not-reported']);
    expect(findings.find(({ status }) => status === 'failed')).to.include({
      subject: 'pod default/vanished',
      seen: 'runs on node "node-1", whose kubelet does not report it',
    });
  });

  it('notes a pod that has just started', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    server.cluster.addPod({ name: 'young', node: 'node-1' });
    const { isSound, findings } = await examine(server);
    expect(isSound).to.equal(true);
    const notes = findings.filter(
      ({ subject, status }) => subject === 'pod default/young' && status === 'note',
    );
    expect(notes.at(-1)?.seen).to.match(
      /^started [01]s ago: metrics are available after two scrapes of its node$/,
    );
  });

  it('reports a pod with complete data that is not served', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    server.cluster.addPod({ name: 'late', node: 'node-1', startedSecondsAgo: 600 });
    const { diagnoses, findings } = await examine(server);
    expect(diagnoses).to.deep.equal(['pod-not-served']);
    expect(findings.find(({ status }) => status === 'failed'))
      .to.have.property('remedy')
      .which.includes('/debug/pods?namespace=default&name=late');
  });

  it('mentions --node-selector only if it is set', async () => {
    await using server = await startExaminedCluster({
      nodes: 1,
      pods: [{ name: 'web', node: 'node-1', startedSecondsAgo: 600 }],
    });
    const { store } = server.cluster;
    const web = store.get('pods', 'default', 'web') ?? expect.fail('it was made');
    const left = { ...web, metadata: { name: 'left', namespace: 'default' } };
    store.create('pods', { ...left, spec: { ...(web.spec as object), nodeName: 'node-gone' } });
    const observed = async (flags: readonly string[]) =>
      (await examine(server, flags)).findings.find(({ subject }) => subject === 'pod default/left');
    expect(await observed([])).to.deep.equal({
      ...{ status: 'note', subject: 'pod default/left' },
      seen: 'runs on node "node-gone", which the API server does not list',
    });
    expect(await observed(['--node-selector=kubernetes.io/os=linux'])).to.deep.include({
      seen: 'runs on node "node-gone", which --node-selector does not select, or the API server does not list',
    });
  });

  it('refers to a node that cannot be scraped', async () => {
    await using server = await startExaminedCluster({ nodes: 1, nodeOverrides: {} });
    server.cluster.addPod({ name: 'stranded', node: 'node-1', startedSecondsAgo: 600 });
    await server.cluster.setFault('node-1', 'refuse');
    const { findings } = await examine(server);
    const found = findings.find(({ subject }) => subject === 'pod default/stranded');
    expect(found).to.include({
      diagnosis: 'pod-of-failing-node',
      remedy: 'Fix the problems of node node-1 above.',
    });
  });
});

/** Stops a pod on its machine without notifying the API server. */
function remove({ cluster }: RunningServer, name: string): void {
  const uid = cluster.store.get('pods', 'default', name)?.metadata.uid ?? '';
  cluster.node('node-1').machine.stop(uid);
}
