import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { startCluster } from '#simulator/simulated-cluster.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('NodeFleet', () => {
  const clock = new ManualClock();

  it('adds and removes nodes with their pods and kubelets', async () => {
    await using cluster = await startCluster({ nodes: 1, podsPerNode: 2 }, { clock });
    expect(await cluster.addNode()).to.equal('node-2');
    expect(await cluster.addNode('special', { pods: 1, labels: { disk: 'fast' } })).to.equal('special');
    const special = cluster.store.get('nodes', undefined, 'special');
    expect(special?.metadata.labels).to.include({ disk: 'fast', 'kubernetes.io/hostname': 'special' });
    expect(cluster.store.list('pods').items).to.have.length(5);

    const { address } = cluster.node('special').plan;
    await cluster.removeNode('special');
    expect(cluster.store.list('pods').items).to.have.length(4);
    expect(cluster.store.get('nodes', undefined, 'special')).to.equal(undefined);
    const error = await requestHttps(`https://${address}:${cluster.kubeletPort}/healthz`, {}).catch(
      (reason) => reason,
    );
    expect(error.code).to.equal('ECONNREFUSED');
  });

  it('reports which port is in use', async () => {
    await using taken = createServer().listen(0, '127.1.0.2');
    await once(taken, 'listening');
    const address = taken.address();
    const kubeletPort = address && typeof address === 'object' ? address.port : 0;
    const error = await startCluster({ nodes: 2 }, { clock, kubeletPort }).catch((reason) => reason);
    expect(error.message).to.equal(`Cannot start the kubelet of node "node-2" at 127.1.0.2:${kubeletPort}`);
    expect(error.cause.code).to.equal('EADDRINUSE');
  });

  it('gives nodes the addresses of the scenario', async () => {
    const addresses = [
      { type: 'Hostname', address: '{name}' },
      { type: 'InternalIP', address: '{ip}' },
    ] as const;
    await using cluster = await startCluster({ nodes: 1, addresses: [...addresses] }, { clock });
    expect(cluster.store.get('nodes', undefined, 'node-1')?.status).to.deep.include({
      addresses: [
        { address: 'node-1', type: 'Hostname' },
        { address: '127.1.0.1', type: 'InternalIP' },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: cluster.kubeletPort } },
    });
  });
});
