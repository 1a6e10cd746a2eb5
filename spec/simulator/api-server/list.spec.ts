import { expect } from 'chai';
import { readContinueToken, writeContinueToken } from '#simulator/api-server/list.ts';
import { ApiError } from '#simulator/api-server/status.ts';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { ClusterClient } from '#spec/support/cluster-client.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('listPage', () => {
  let cluster: SimulatedCluster;
  let client: ClusterClient;

  beforeEach(async () => {
    cluster = await startCluster({ nodes: 2, podsPerNode: 6 }, { clock: new ManualClock() });
    client = new ClusterClient(cluster);
  });
  afterEach(() => cluster[Symbol.asyncDispose]());

  const namesOf = (list: { items: { metadata: { name: string } }[] }) =>
    list.items.map(({ metadata }) => metadata.name);

  it('pages through one snapshot, whatever happens meanwhile', async () => {
    const whole = await client.json('/api/v1/pods');
    let page = await client.json('/api/v1/pods?limit=5');
    expect(page.metadata.remainingItemCount).to.equal(7);
    cluster.addPod({ namespace: 'default', name: 'aaa', node: 'node-1' });
    const names = namesOf(page);
    while (page.metadata.continue) {
      page = await client.json(`/api/v1/pods?limit=5&continue=${page.metadata.continue}`);
      expect(page.metadata.resourceVersion).to.equal(whole.metadata.resourceVersion);
      names.push(...namesOf(page));
    }
    expect(page.metadata).not.to.have.property('remainingItemCount');
    expect(names).to.deep.equal(namesOf(whole));
  });

  it('returns no remaining count with a selector', async () => {
    const page = await client.json('/api/v1/pods?limit=1&labelSelector=tier%3Dweb');
    expect(page.metadata.continue).to.be.a('string');
    expect(page.metadata).not.to.have.property('remainingItemCount');
  });

  it('counts the remaining items of a namespace', async () => {
    const page = await client.json('/api/v1/namespaces/default/pods?limit=1');
    expect(page.metadata.remainingItemCount).to.equal(3);
  });

  it('refuses to go on after a compaction with 410', async () => {
    const page = await client.json('/api/v1/pods?limit=5');
    cluster.store.compact();
    const status = await client.json(`/api/v1/pods?limit=5&continue=${page.metadata.continue}`);
    expect(status).to.include({ kind: 'Status', code: 410, reason: 'Expired' });
  });

  it('refuses a version that is yet to come with 504', async () => {
    const status = await client.json('/api/v1/pods?resourceVersion=99999999');
    expect(status).to.include({ code: 504, reason: 'Timeout' });
    expect(status.details.causes[0].reason).to.equal('ResourceVersionTooLarge');
  });

  it('makes a table on request', async () => {
    const headers = { Accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
    const table = await client.json('/api/v1/nodes', { headers });
    expect(table).to.include({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
    expect(table.rows[0].cells.slice(0, 2)).to.deep.equal(['node-1', 'Ready']);
    expect(table.rows[0].object.kind).to.equal('PartialObjectMetadata');
    const bare = await client.json('/api/v1/nodes?includeObject=None', { headers });
    expect(bare.rows[0]).to.have.all.keys('cells');
  });

  it('compresses large responses for clients that accept gzip', async () => {
    for (let index = 0; index < 100; index++) cluster.addPod({ name: `more-${index}`, node: 'node-1' });
    const headers = { 'Accept-Encoding': 'gzip' };
    expect((await client.request('/api/v1/pods', { headers })).headers['content-encoding']).to.equal('gzip');
    expect((await client.request('/api/v1/pods')).headers).not.to.have.property('content-encoding');
    expect((await client.request('/api/v1/nodes', { headers })).headers).not.to.have.property(
      'content-encoding',
    );
  });
});

describe('writeContinueToken', () => {
  it('writes the same token as the real server', () => {
    // As recorded from a kube-apiserver.
    expect(writeContinueToken(337, '/default/burner-7b8469d94f-8cdnt')).to.equal(
      'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MzM3LCJzdGFydCI6Ii9kZWZhdWx0L2J1cm5lci03Yjg0NjlkOTRmLThjZG50XHUwMDAwIn0',
    );
  });
});

describe('readContinueToken', () => {
  it('reads its own tokens', () => {
    expect(readContinueToken(writeContinueToken(7, '/a/b'))).to.deep.equal({
      resourceVersion: 7,
      start: '/a/b\0',
    });
  });

  it('refuses anything else', () => {
    const foreign = Buffer.from('{"v":"other"}').toString('base64url');
    for (const token of ['zzz', '', foreign]) {
      expect(() => readContinueToken(token), token)
        .to.throw(ApiError, /^invalid continue token: continue key is not valid/)
        .with.property('code', 400);
    }
  });
});
