import { expect } from 'chai';
import { eventually } from '#spec/support/eventually.ts';
import { examine, startExaminedCluster } from '#spec/support/examined-cluster.ts';
import { freePort } from '#spec/support/free-port.ts';
import type { RunningServer } from '#spec/support/running-server.ts';

describe('kubeletConnections', () => {
  it('reports that nothing listens', async () => {
    await using server = await startExaminedCluster();
    await server.cluster.setFault('node-1', 'refuse');
    const { findings, diagnoses } = await examine(server);
    expect(diagnoses).to.deep.equal(['kubelet-refuses-connections']);
    const address = `${server.cluster.node('node-1').plan.address}:${server.cluster.kubeletPort}`;
    const found = findings.find(({ status }) => status === 'failed');
    expect(found).to.include({ subject: 'node "node-1"', seen: `${address}: connection refused` });
    expect(found)
      .to.have.property('remedy')
      .which.includes('Check on node node-1 that the kubelet runs')
      .and.includes(`listens at ${address}`);
  });

  it("names the port in the node's status if it differs", async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    const { findings } = await examine(server, [`--kubelet-port=${await freePort()}`]);
    expect(findings.find(({ status }) => status === 'failed')?.seen).to.match(
      new RegExp(
        `: connection refused; according to the node's status, its kubelet uses port ${server.cluster.kubeletPort}$`,
      ),
    );
  });

  it('reports that nothing responds', async () => {
    await using server = await startExaminedCluster();
    await server.cluster.setFault('node-1', 'black-hole');
    const examined = examine(server, ['--kubelet-dial-timeout=2s']);
    const { diagnoses, findings } = await whileTimePasses(server, examined);
    expect(diagnoses).to.deep.equal(['kubelet-unreachable']);
    expect(findings.find(({ status }) => status === 'failed')?.seen).to.match(/: no connection within 2s$/);
  });

  it('reports that a host name does not resolve', async () => {
    await using server = await startExaminedCluster({
      nodes: 1,
      nodeOverrides: { 'node-1': { addresses: [{ type: 'InternalIP', address: '{ip}' }] } },
    });
    const object = server.cluster.store.get('nodes', undefined, 'node-1');
    if (!object) throw new Error('there is no node');
    const addresses = [
      { type: 'Hostname', address: 'nowhere.invalid' },
      { type: 'ExternalIP', address: '192.0.2.1' },
    ];
    server.cluster.store.update('nodes', { ...object, status: { ...(object.status as object), addresses } });
    const examined = examine(server, ['--kubelet-dial-timeout=2s']);
    const { diagnoses, findings } = await whileTimePasses(server, examined);
    expect(diagnoses).to.deep.equal(['node-name-unresolved']);
    expect(findings.find(({ status }) => status === 'failed'))
      .to.have.property('remedy')
      .which.matches(/^Make nowhere\.invalid resolvable for pods /)
      .and.matches(/; the node has Hostname, ExternalIP\.$/);
  });
});

/** Advances the clock in small steps, yielding to sockets, until the work is done. */
async function whileTimePasses<T>({ clock }: RunningServer, work: Promise<T>): Promise<T> {
  let isDone = false;
  const note = () => {
    isDone = true;
  };
  work.then(note, note);
  await eventually(async () => {
    await clock.advance(10);
    return isDone;
  });
  return await work;
}
