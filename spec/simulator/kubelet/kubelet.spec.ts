import { once } from 'node:events';
import { Agent } from 'node:https';
import { connect } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { openHttps, requestHttps } from '#spec/support/https-request.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('Kubelet', () => {
  const clock = new ManualClock();
  let cluster: SimulatedCluster;

  before(async () => {
    cluster = await startCluster(
      {
        nodes: 3,
        podsPerNode: 2,
        nodeOverrides: { 'node-2': { certificate: 'name-only' }, 'node-3': { certificate: 'expired' } },
      },
      { clock },
    );
  });
  after(() => cluster[Symbol.asyncDispose]());

  const urlOf = (node: string, path: string) =>
    `https://${cluster.node(node).plan.address}:${cluster.kubeletPort}${path}`;
  const request = (path: string, options: Parameters<typeof requestHttps>[1] = {}) =>
    requestHttps(urlOf('node-1', path), {
      ca: cluster.pki.kubeletCa.certificatePem,
      token: cluster.metricsServerToken,
      ...options,
    });

  it('responds at each address as the node that it is', async () => {
    const response = await request('/stats/summary?only_cpu_and_memory=true');
    expect(response.status).to.equal(200);
    expect(response.headers).to.include({
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
    });
    const { node, pods } = JSON.parse(response.body);
    expect(node.nodeName).to.equal('node-1');
    expect(pods).to.have.length(2);
    expect(pods[0].containers[0]).not.to.have.property('rootfs');
  });

  it('reports disks and network by default', async () => {
    const { node, pods } = JSON.parse((await request('/stats/summary')).body);
    expect(node).to.include.keys('fs', 'network', 'rlimit');
    expect(pods[0].containers[0]).to.include.keys('rootfs', 'logs');
  });

  it('compresses the exposition for clients that accept gzip, and never the summary', async () => {
    const headers = { 'Accept-Encoding': 'gzip' };
    const exposition = await openHttps(urlOf('node-1', '/metrics/resource'), {
      ca: cluster.pki.kubeletCa.certificatePem,
      token: cluster.metricsServerToken,
      headers,
    });
    expect(exposition.headers).to.include({
      'content-encoding': 'gzip',
      'content-type': 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores',
    });
    const chunks: Buffer[] = [];
    for await (const chunk of exposition) chunks.push(chunk);
    expect(gunzipSync(Buffer.concat(chunks)).toString()).to.include('resource_scrape_error 0');
    expect((await request('/stats/summary', { headers })).headers).not.to.have.property('content-encoding');
  });

  it('counts its requests', async () => {
    const requested = async () =>
      /path="metrics\/resource",server_type="readwrite"} (\d+)$/m.exec((await request('/metrics')).body)?.[1];
    await request('/metrics/resource');
    const before = Number(await requested());
    await request('/metrics/resource');
    expect(Number(await requested())).to.equal(before + 1);
  });

  it('has its headers as Go writes them', async () => {
    const response = await request('/nope', {
      token: '',
      cert: cluster.pki.admin.certificatePem,
      key: cluster.pki.admin.privateKeyPem,
    });
    expect(response.headers).to.include({ 'content-length': '19', 'x-content-type-options': 'nosniff' });
    expect(response.headers).not.to.have.any.keys('connection', 'keep-alive');
  });

  it('responds with 404 at other paths', async () => {
    const admin = { cert: cluster.pki.admin.certificatePem, key: cluster.pki.admin.privateKeyPem, token: '' };
    const { status, body } = await request('/nope', admin);
    expect([status, body]).to.deep.equal([404, '404 page not found\n']);
  });

  describe('authorizes', () => {
    it('no client without valid credentials', async () => {
      const foreign = cluster.pki.frontProxyCa.issue({
        subject: { commonName: 'kubernetes-admin', organizations: ['system:masters'] },
        usages: ['clientAuth'],
      });
      for (const credentials of [
        { token: '' },
        { token: 'nope' },
        { token: '', cert: foreign.certificatePem, key: foreign.privateKeyPem },
      ]) {
        const { status, body, headers } = await request('/stats/summary', credentials);
        expect([status, body]).to.deep.equal([401, 'Unauthorized']);
        expect(headers['content-type']).to.equal('text/plain; charset=utf-8');
      }
    });

    it('no user without the permission', async () => {
      const alice = cluster.pki.clientCa.issue({ subject: { commonName: 'alice' }, usages: ['clientAuth'] });
      const credentials = { token: '', cert: alice.certificatePem, key: alice.privateKeyPem };
      const { status, body } = await request('/metrics/resource', credentials);
      expect(status).to.equal(403);
      expect(body).to.equal('Forbidden (user=alice, verb=get, resource=nodes, subresource(s)=[metrics])\n');
    });

    it('metrics-server to the endpoints that its manifests or the scenario grant', async () => {
      await using strict = await startCluster({ nodes: 1, kubeletAccess: ['nodes/metrics'] }, { clock });
      const { address } = strict.node('node-1').plan;
      const statusOf = async (path: string) =>
        (
          await requestHttps(`https://${address}:${strict.kubeletPort}${path}`, {
            ca: strict.pki.kubeletCa.certificatePem,
            token: strict.metricsServerToken,
          })
        ).status;
      expect(await statusOf('/metrics/resource')).to.equal(200);
      expect(await statusOf('/stats/summary')).to.equal(403);
    });
  });

  describe('serves with a certificate', () => {
    it('that names node and address', async () => {
      const socket = connect({
        host: cluster.node('node-1').plan.address,
        port: cluster.kubeletPort,
        ca: cluster.pki.kubeletCa.certificatePem,
      });
      await once(socket, 'secureConnect');
      const { subject, subjectaltname } = socket.getPeerCertificate();
      expect(subject.CN).to.equal('system:node:node-1');
      expect(subjectaltname).to.equal('DNS:node-1, IP Address:127.1.0.1');
      socket.destroy();
    });

    for (const [node, code] of [
      ['node-2', 'ERR_TLS_CERT_ALTNAME_INVALID'],
      ['node-3', 'CERT_HAS_EXPIRED'],
    ] as const) {
      it(`that is ${node === 'node-2' ? 'for its name alone' : 'out of date'}`, async () => {
        const error = await requestHttps(urlOf(node, '/metrics'), {
          ca: cluster.pki.kubeletCa.certificatePem,
        }).catch((reason) => reason);
        expect(error.code).to.equal(code);
      });
    }

    it('that can change', async () => {
      const response = () => request('/stats/summary').catch((reason) => reason);
      cluster.setCertificate('node-1', 'self-signed');
      expect((await response()).code).to.equal('DEPTH_ZERO_SELF_SIGNED_CERT');
      cluster.setCertificate('node-1', 'valid');
      expect((await response()).status).to.equal(200);
    });
  });

  it('speaks HTTP/2 to clients that negotiate it', async () => {
    const socket = connect({
      host: cluster.node('node-1').plan.address,
      port: cluster.kubeletPort,
      ca: cluster.pki.kubeletCa.certificatePem,
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    await once(socket, 'secureConnect');
    expect(socket.alpnProtocol).to.equal('h2');
    socket.destroy();
  });

  it('reuses connections', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { kubelet } = cluster.node('node-1');
    await request('/stats/summary', { agent });
    const count = kubelet.connectionCount;
    await request('/stats/summary', { agent });
    expect(kubelet.connectionCount).to.equal(count);
    agent.destroy();
  });
});
