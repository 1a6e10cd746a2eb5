import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { NodeCache } from '#lib/resource-metrics/nodes/node-cache.ts';
import { startListingServer } from '#spec/support/listing-server.ts';

describe('NodeCache', () => {
  const list = readFileSync(new URL('../../fixtures/apiserver/nodes.body', import.meta.url), 'utf8');

  it('follows the nodes that its selector admits', async () => {
    await using server = await startListingServer(list);
    await using nodes = new NodeCache({ ...server, selector: 'kubernetes.io/os=linux' });
    expect(nodes.isSynced).to.equal(false);
    nodes.start();
    await nodes.synced();
    expect(nodes.isSynced).to.equal(true);
    expect(nodes.get('lab-node')).to.include({ name: 'lab-node', kubeletPort: 10250 });
    expect([...nodes.values()]).to.deep.equal([nodes.get('lab-node')]);
    const [request] = server.requests;
    expect(request?.url.pathname).to.equal('/api/v1/nodes');
    expect(request?.url.searchParams.get('labelSelector')).to.equal('kubernetes.io/os=linux');
  });

  it('follows all nodes without a selector', async () => {
    await using server = await startListingServer(list);
    await using nodes = new NodeCache({ ...server, selector: '' });
    nodes.start();
    await nodes.synced();
    expect(server.requests[0]?.url.searchParams.has('labelSelector')).to.equal(false);
  });
});
