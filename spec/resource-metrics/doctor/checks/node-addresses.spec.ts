import { expect } from 'chai';
import { examine, startExaminedCluster } from '#spec/support/examined-cluster.ts';

describe('nodeAddresses', () => {
  it('tells which address it is and why', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    const { findings } = await examine(server, ['--kubelet-preferred-address-types=ExternalIP,InternalIP']);
    const { address } = server.cluster.node('node-1').plan;
    expect(findings).to.deep.include({
      status: 'ok',
      subject: 'node "node-1"',
      seen: `${address}:${server.cluster.kubeletPort}: its InternalIP is the first it has of ExternalIP, InternalIP; the port is from --kubelet-port`,
    });
  });

  it('tells that a node has none of a wanted type, and which it has', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    const { findings, diagnoses } = await examine(server, ['--kubelet-preferred-address-types=ExternalIP']);
    expect(new Set(diagnoses)).to.deep.equal(new Set(['node-without-address']));
    expect(findings.find(({ status }) => status === 'failed')).to.deep.include({
      seen: 'has only InternalIP, Hostname; wanted: ExternalIP',
      remedy: 'Add a type that it has to --kubelet-preferred-address-types: InternalIP,Hostname.',
    });
  });

  it('tells that a node has no address at all, which no flag can mend', async () => {
    await using server = await startExaminedCluster({ nodeOverrides: { 'node-2': { addresses: [] } } });
    const { findings, diagnoses } = await examine(server);
    expect(diagnoses[0]).to.equal('node-without-any-address');
    const found = findings.find(({ status }) => status === 'failed');
    expect(found).to.include({ subject: 'node "node-2"', seen: 'has none' });
    expect(found)
      .to.have.property('remedy')
      .which.matches(/^Have the kubelet on node-2 tell its address/);
  });
});
