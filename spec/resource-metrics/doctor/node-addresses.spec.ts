import { expect } from 'chai';
import { examine, startExaminedCluster } from '#spec/support/examined-cluster.ts';

describe('nodeAddresses', () => {
  it('explains the choice of an address', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    const { findings } = await examine(server, ['--kubelet-preferred-address-types=ExternalIP,InternalIP']);
    const { address } = server.cluster.node('node-1').plan;
    expect(findings).to.deep.include({
      status: 'ok',
      subject: 'node "node-1"',
      seen: `${address}:${server.cluster.kubeletPort}: its InternalIP, the first match of ExternalIP, InternalIP; port from --kubelet-port`,
    });
  });

  it('reports a node without an address of a preferred type, and its types', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    const { findings, diagnoses } = await examine(server, ['--kubelet-preferred-address-types=ExternalIP']);
    expect(new Set(diagnoses)).to.deep.equal(new Set(['node-without-address']));
    expect(findings.find(({ status }) => status === 'failed')).to.deep.include({
      seen: 'has only InternalIP, Hostname; preferred: ExternalIP',
      remedy:
        'Add one of the address types of the node to --kubelet-preferred-address-types: InternalIP,Hostname.',
    });
  });

  it('reports a node without any address', async () => {
    await using server = await startExaminedCluster({ nodeOverrides: { 'node-2': { addresses: [] } } });
    const { findings, diagnoses } = await examine(server);
    expect(diagnoses[0]).to.equal('node-without-any-address');
    const found = findings.find(({ status }) => status === 'failed');
    expect(found).to.include({ subject: 'node "node-2"', seen: 'has no address' });
    expect(found)
      .to.have.property('remedy')
      .which.matches(/^Set the address of the kubelet on node-2/);
  });
});
