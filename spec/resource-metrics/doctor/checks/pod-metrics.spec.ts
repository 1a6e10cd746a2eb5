import { expect } from 'chai';
import { examine, startExaminedCluster } from '#spec/support/examined-cluster.ts';
import type { RunningServer } from '#spec/support/running-server.ts';

describe('podMetrics', () => {
  it('tells that a kubelet does not report a pod that runs there', async () => {
    await using server = await startExaminedCluster({
      nodes: 1,
      pods: [{ name: 'vanished', node: 'node-1', startedSecondsAgo: 600 }],
    });
    forget(server, 'vanished');
    server.cluster.rbac.revoke('doctor');
    const { diagnoses, findings } = await examine(server);
    expect(diagnoses).to.deep.equal(['pod-not-reported']);
    expect(findings.find(({ status }) => status === 'failed')).to.include({
      subject: 'pod default/vanished',
      seen: 'runs on node "node-1", whose kubelet does not report it',
    });
  });

  it('takes it as a note that a pod is too young', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    server.cluster.addPod({ name: 'young', node: 'node-1' });
    const { isSound, findings } = await examine(server);
    expect(isSound).to.equal(true);
    const notes = findings.filter(
      ({ subject, status }) => subject === 'pod default/young' && status === 'note',
    );
    expect(notes.at(-1)?.seen).to.match(
      /^started [01]s ago: it has metrics once its node was scraped twice$/,
    );
  });

  it('tells of a pod that the kubelet tells all of and the server does not serve', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    server.cluster.addPod({ name: 'late', node: 'node-1', startedSecondsAgo: 600 });
    const { diagnoses, findings } = await examine(server);
    expect(diagnoses).to.deep.equal(['pod-not-served']);
    expect(findings.find(({ status }) => status === 'failed'))
      .to.have.property('remedy')
      .which.includes('/debug/pods?namespace=default&name=late');
  });

  it('blames --node-selector only where it is given for a pod whose node is not asked', async () => {
    await using server = await startExaminedCluster({
      nodes: 1,
      pods: [{ name: 'web', node: 'node-1', startedSecondsAgo: 600 }],
    });
    const { store } = server.cluster;
    const web = store.get('pods', 'default', 'web') ?? expect.fail('it was made');
    const left = { ...web, metadata: { name: 'left', namespace: 'default' } };
    store.create('pods', { ...left, spec: { ...(web.spec as object), nodeName: 'node-gone' } });
    const seen = async (flags: readonly string[]) =>
      (await examine(server, flags)).findings.find(({ subject }) => subject === 'pod default/left');
    expect(await seen([])).to.deep.equal({
      ...{ status: 'note', subject: 'pod default/left' },
      seen: 'runs on node "node-gone", which the API server does not list',
    });
    expect(await seen(['--node-selector=kubernetes.io/os=linux'])).to.deep.include({
      seen: 'runs on node "node-gone", which --node-selector leaves out, or the API server does not list',
    });
  });

  it('refers to the node where that cannot be scraped', async () => {
    await using server = await startExaminedCluster({ nodes: 1, nodeOverrides: {} });
    server.cluster.addPod({ name: 'stranded', node: 'node-1', startedSecondsAgo: 600 });
    await server.cluster.setFault('node-1', 'refuse');
    const { findings } = await examine(server);
    const found = findings.find(({ subject }) => subject === 'pod default/stranded');
    expect(found).to.include({
      diagnosis: 'pod-of-failing-node',
      remedy: 'Remedy what is said above of node node-1.',
    });
  });
});

/** Stops a pod on its machine, of which the API server hears nothing. */
function forget({ cluster }: RunningServer, name: string): void {
  const uid = cluster.store.get('pods', 'default', name)?.metadata.uid ?? '';
  cluster.node('node-1').machine.stop(uid);
}
