import { connect } from 'node:http2';
import { expect } from 'chai';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { ClusterClient } from '#spec/support/cluster-client.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('ApiServer', () => {
  let cluster: SimulatedCluster;
  let admin: ClusterClient;
  let alice: ClusterClient;

  before(async () => {
    cluster = await startCluster({ nodes: 1, podsPerNode: 1 }, { clock: new ManualClock() });
    admin = new ClusterClient(cluster);
    alice = ClusterClient.asUser(cluster, 'alice');
  });
  after(() => cluster[Symbol.asyncDispose]());

  it('returns its version without authentication', async () => {
    const { gitVersion } = await new ClusterClient(cluster, {}).json('/version');
    expect(gitVersion).to.equal('v1.34.2');
  });

  it('has an audit ID in each response', async () => {
    const { headers } = await admin.request('/version', { headers: { 'Audit-Id': 'an-id' } });
    expect(headers).to.include({ 'audit-id': 'an-id', 'cache-control': 'no-cache, private' });
    expect((await admin.request('/version')).headers['audit-id']).to.match(/^[0-9a-f-]{36}$/);
  });

  it('refuses invalid tokens and certificates with 401 and the message of the real server', async () => {
    const foreign = cluster.pki.serverCa.issue({ subject: { commonName: 'eve' }, usages: ['clientAuth'] });
    for (const credentials of [
      { token: 'nope' },
      { cert: foreign.certificatePem, key: foreign.privateKeyPem },
    ]) {
      expect(await new ClusterClient(cluster, credentials).json('/api/v1/nodes')).to.deep.equal({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'Unauthorized',
        reason: 'Unauthorized',
        code: 401,
      });
    }
  });

  for (const [path, message, details] of [
    [
      '/api/v1/nodes',
      'nodes is forbidden: User "alice" cannot list resource "nodes" in API group "" at the cluster scope',
      { kind: 'nodes' },
    ],
    [
      '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication',
      'configmaps "extension-apiserver-authentication" is forbidden: User "alice" cannot get resource "configmaps" in API group "" in the namespace "kube-system"',
      { name: 'extension-apiserver-authentication', kind: 'configmaps' },
    ],
    ['/metrics', 'forbidden: User "alice" cannot get path "/metrics"', {}],
  ] as const) {
    it(`forbids ${path} without permission, with the real server's message`, async () => {
      const { status, headers, body } = await alice.request(path);
      expect(status).to.equal(403);
      expect(headers['x-content-type-options']).to.equal('nosniff');
      expect(JSON.parse(body)).to.deep.include({ message, reason: 'Forbidden', details });
    });
  }

  it('authorizes metrics-server by the rules of its manifests', async () => {
    const metricsServer = new ClusterClient(cluster, { token: cluster.metricsServerToken });
    const statusOf = async (path: string) => (await metricsServer.request(path)).status;
    expect(await statusOf('/api/v1/nodes')).to.equal(200);
    expect(await statusOf('/api/v1/pods')).to.equal(200);
    const configMaps = '/api/v1/namespaces/kube-system/configmaps';
    const named = 'fieldSelector=metadata.name%3Dextension-apiserver-authentication';
    expect(await statusOf(`${configMaps}?${named}`)).to.equal(200);
    expect(await statusOf(configMaps)).to.equal(403);
    expect(await statusOf('/api/v1/namespaces')).to.equal(403);
  });

  it('publishes the client CAs for aggregated servers', async () => {
    const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
    const { data } = await admin.json(path);
    expect(data['client-ca-file']).to.equal(cluster.pki.clientCa.certificatePem);
    expect(data['requestheader-client-ca-file']).to.equal(cluster.pki.frontProxyCa.certificatePem);
    expect(data['requestheader-allowed-names']).to.equal('["front-proxy-client"]');
  });

  it('refuses invalid bodies', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    for (const body of ['{', '7', '{"metadata":{"name":7}}']) {
      expect((await admin.json(path, { method: 'POST', body })).code, body).to.equal(400);
    }
    expect((await admin.json(path, { method: 'POST', body: '{}' })).message).to.equal(
      'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    );
  });

  it('speaks HTTP/2', async () => {
    const { certificatePem: cert, privateKeyPem: key } = cluster.pki.admin;
    const session = connect(cluster.server, { ca: cluster.pki.serverCa.certificatePem, cert, key });
    let body = '';
    for await (const chunk of session.request({ ':path': '/api/v1/nodes' }).setEncoding('utf8'))
      body += chunk;
    expect(JSON.parse(body).items).to.have.length(1);
    session.close();
  });

  it('listens on the same port after an outage', async () => {
    const { server } = cluster;
    await cluster.apiServer.stop();
    expect(await admin.request('/version').catch((error) => error.code)).to.equal('ECONNREFUSED');
    await cluster.apiServer.start();
    expect(cluster.server).to.equal(server);
    expect((await admin.request('/version')).status).to.equal(200);
  });
});
