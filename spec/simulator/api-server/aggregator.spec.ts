import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { CertificateAuthority } from '#simulator/access/certificate-authority.ts';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { ClusterClient, WatchReader } from '#spec/support/cluster-client.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { until } from '#spec/support/until.ts';

describe('Aggregator', () => {
  const clock = new ManualClock();
  const authority = new CertificateAuthority('serving-ca');
  let cluster: SimulatedCluster;
  let client: ClusterClient;

  beforeEach(async () => {
    cluster = await startCluster({ nodes: 0 }, { clock });
    client = new ClusterClient(cluster);
  });
  afterEach(() => cluster[Symbol.asyncDispose]());

  it('forwards the user and the origin of a request', async () => {
    await using backend = await startBackend();
    register(backend);
    const bob = ClusterClient.asUser(cluster, 'bob', ['dev', 'ops']);
    cluster.rbac.grant({
      name: 'bob',
      role: 'metrics',
      users: ['bob'],
      rules: [{ verbs: ['*'], apiGroups: ['metrics.k8s.io'], resources: ['*'] }],
    });
    const response = await bob.request('/apis/metrics.k8s.io/v1beta1/nodes?labelSelector=a%3Db', {
      headers: { Accept: 'application/json', 'X-Remote-User': 'root', 'User-Agent': 'spec' },
    });
    expect(response.status).to.equal(200);
    const { headers, url, peer } = JSON.parse(response.body);
    expect(url).to.equal('/apis/metrics.k8s.io/v1beta1/nodes?labelSelector=a%3Db');
    expect(peer).to.equal('front-proxy-client');
    expect(headers['x-remote-user']).to.deep.equal(['bob']);
    expect(headers['x-remote-group']).to.deep.equal(['dev', 'ops', 'system:authenticated']);
    expect(headers['x-remote-extra-authentication.kubernetes.io%2fcredential-id'][0]).to.match(
      /^X509SHA256=[0-9a-f]{64}$/,
    );
    expect(headers).to.deep.include({
      accept: ['application/json'],
      'user-agent': ['spec'],
      'audit-id': [response.headers['audit-id']],
      'x-forwarded-for': ['127.0.0.1'],
      'x-forwarded-host': [`127.0.0.1:${backend.port}`],
      'x-forwarded-proto': ['https'],
      'x-forwarded-uri': ['/apis/metrics.k8s.io/v1beta1/nodes'],
    });
  });

  it('passes status, headers and body through', async () => {
    await using backend = await startBackend((_request, response) => {
      response.writeHead(418, { 'Content-Type': 'text/tea', 'X-Pot': 'yes' });
      response.end('short and stout');
    });
    register(backend);
    const { status, headers, body } = await client.request('/apis/metrics.k8s.io/v1beta1/pods');
    expect([status, headers['content-type'], headers['x-pot'], body]).to.deep.equal([
      418,
      'text/tea',
      'yes',
      'short and stout',
    ]);
  });

  it('streams, and closes the request when the caller disconnects', async () => {
    let hasLeft = false;
    let feed: ServerResponse | undefined;
    await using backend = await startBackend((request, response) => {
      if (!request.url?.includes('watch')) return void response.end('{}');
      feed = response;
      response.on('close', () => {
        hasLeft = true;
      });
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.write('{"type":"ADDED"}\n');
    });
    register(backend);
    const reader = new WatchReader(await client.open('/apis/metrics.k8s.io/v1beta1/pods?watch=true'));
    expect((await reader.take(1))[0]?.type).to.equal('ADDED');
    feed?.write('{"type":"MODIFIED"}\n');
    expect((await reader.take(1))[0]?.type).to.equal('MODIFIED');
    reader[Symbol.dispose]();
    await until(clock, () => hasLeft);
  });

  it('reaches a server that was replaced', async () => {
    const first = await startBackend();
    register(first);
    expect((await client.request('/apis/metrics.k8s.io/v1beta1/nodes')).status).to.equal(200);
    await first[Symbol.asyncDispose]();
    expect((await client.request('/apis/metrics.k8s.io/v1beta1/nodes')).status).to.equal(503);
    await using _second = await startBackend(echo, first.port);
    expect((await client.request('/apis/metrics.k8s.io/v1beta1/nodes')).status).to.equal(200);
  });

  it("responds with 503 and Go's message while no server listens", async () => {
    cluster.registerMetricsServer({ host: '127.0.0.1', port: 1 });
    const { status, headers, body } = await client.request('/apis/metrics.k8s.io/v1beta1/nodes');
    expect(status).to.equal(503);
    expect(headers['content-type']).to.equal('text/plain; charset=utf-8');
    expect(body).to.equal(
      'error trying to reach service: dial tcp 127.0.0.1:1: connect: connection refused\n',
    );
  });

  it('verifies the server by the CA that is registered, and its service name', async () => {
    await using backend = await startBackend();
    const other = new CertificateAuthority('other').certificatePem;
    cluster.registerMetricsServer({ host: '127.0.0.1', port: backend.port, caPem: other });
    expect((await client.request('/apis/metrics.k8s.io/v1beta1/nodes')).status).to.equal(503);
    register(backend);
    expect((await client.request('/apis/metrics.k8s.io/v1beta1/nodes')).status).to.equal(200);
  });

  it('forwards no request without permission', async () => {
    await using backend = await startBackend();
    register(backend);
    const { status, body } = await ClusterClient.asUser(cluster, 'eve').request(
      '/apis/metrics.k8s.io/v1beta1/nodes',
    );
    expect(status).to.equal(403);
    expect(JSON.parse(body).message).to.match(/^nodes\.metrics\.k8s\.io is forbidden: User "eve"/);
  });

  it('sets the condition Available of the APIService', async () => {
    const condition = () => {
      const service = cluster.store.get(
        'apiservices.apiregistration.k8s.io',
        undefined,
        'v1beta1.metrics.k8s.io',
      );
      const { conditions = [] } = (service?.status ?? {}) as {
        conditions?: { status: string; message: string }[];
      };
      return conditions[0];
    };
    cluster.registerMetricsServer({ host: '127.0.0.1', port: 1 });
    await until(clock, () => condition()?.status === 'False');
    expect(condition()?.message).to.equal(
      'failing or missing response from https://127.0.0.1:1/apis/metrics.k8s.io/v1beta1: dial tcp 127.0.0.1:1: connect: connection refused',
    );
    await using backend = await startBackend();
    register(backend);
    await until(clock, () => condition()?.status === 'True');
  });

  it('probes a server until it is available', async () => {
    const placeholder = await startBackend();
    const { port } = placeholder;
    await placeholder[Symbol.asyncDispose]();
    cluster.registerMetricsServer({ host: '127.0.0.1', port });
    const statusOf = () =>
      JSON.stringify(
        cluster.store.get('apiservices.apiregistration.k8s.io', undefined, 'v1beta1.metrics.k8s.io')?.status,
      );
    await until(clock, () => statusOf().includes('"False"'));
    await using _backend = await startBackend(echo, port);
    await until(clock, () => clock.sleeperCount > 0);
    await clock.advance(1000);
    await until(clock, () => statusOf().includes('"True"'));
  });

  it("includes the server's resources in discovery", async () => {
    await using backend = await startBackend((_request, response) => {
      const resources = [{ name: 'nodes', namespaced: false, kind: 'NodeMetrics', verbs: ['get'] }];
      response.end(JSON.stringify({ kind: 'APIResourceList', resources }));
    });
    register(backend);
    const { items } = await client.json('/apis');
    expect(items.at(-1).versions[0].resources[0].resource).to.equal('nodes');
    expect((await client.json('/apis/metrics.k8s.io')).preferredVersion.version).to.equal('v1beta1');
  });

  function register({ port }: { readonly port: number }): void {
    cluster.registerMetricsServer({ host: '127.0.0.1', port, caPem: authority.certificatePem });
  }

  /** An aggregated server that by default responds with the request that it received. */
  async function startBackend(
    response: (request: IncomingMessage, response: ServerResponse) => void = echo,
    port = 0,
  ): Promise<AsyncDisposable & { readonly port: number }> {
    const issued = authority.issue({
      subject: { commonName: 'metrics-server' },
      usages: ['serverAuth'],
      names: ['metrics-server.kube-system.svc'],
    });
    const tls = {
      cert: issued.certificatePem,
      key: issued.privateKeyPem,
      ca: cluster.pki.frontProxyCa.certificatePem,
      requestCert: true,
    };
    const sockets = new Set<Socket>();
    const server = createSecureServer(tls);
    server.on('request', response as never);
    server.on('connection', (socket: Socket) => sockets.add(socket));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return {
      port: (server.address() as AddressInfo).port,
      [Symbol.asyncDispose]: async () => {
        const closed = once(server, 'close');
        server.close();
        for (const socket of sockets) socket.destroy();
        await closed;
      },
    };
  }

  function echo(request: IncomingMessage, response: ServerResponse): void {
    const headers: Record<string, string[]> = {};
    for (let index = 0; index < request.rawHeaders.length; index += 2) {
      const name = (request.rawHeaders[index] ?? '').toLowerCase();
      headers[name] = [...(headers[name] ?? []), request.rawHeaders[index + 1] ?? ''];
    }
    const peer = (request.socket as TLSSocket).getPeerCertificate().subject.CN;
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ url: request.url, headers, peer }));
  }
});
