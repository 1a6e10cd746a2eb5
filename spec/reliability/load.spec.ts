import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { Agent } from 'node:https';
import { connect, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { openHttps } from '#spec/support/https-request.ts';
import { type ServerInCluster, startServerInCluster } from '#spec/support/spawned-server-in-cluster.ts';

const PODS = '/apis/metrics.k8s.io/v1beta1/pods';
const POD_COUNT = 1000;
const VIEWER = 'viewer';

// The server is a process of its own: its clients' work is not to look like its own.
describe('a server under load', function () {
  this.timeout(60_000);
  let system: ServerInCluster;
  let viewer: { readonly cert: string; readonly key: string; readonly rejectUnauthorized: false };

  before(async () => {
    const rules = [{ verbs: ['list'], apiGroups: ['metrics.k8s.io'], resources: ['pods'] }];
    const grants = [{ name: VIEWER, role: 'viewer-of-metrics', users: [VIEWER], rules }];
    system = await startServerInCluster(
      { nodes: 20, podsPerNode: POD_COUNT / 20, grants },
      { flags: ['--max-requests-inflight=10'] },
    );
    const { certificatePem: cert, privateKeyPem: key } = system.cluster.pki.clientCa.issue({
      subject: { commonName: VIEWER, organizations: [] },
      usages: ['clientAuth'],
    });
    viewer = { cert, key, rejectUnauthorized: false };
    await system.until(async () => (await system.ask('/readyz')).status === 200);
  });
  after(() => system[Symbol.asyncDispose]());

  /** The slowest of ten probes, in milliseconds. */
  async function slowestProbe(): Promise<number> {
    using agent = disposable(new Agent({ keepAlive: true }));
    await system.ask('/livez', { agent: agent.value }); // the handshake
    let slowestMs = 0;
    for (let probe = 0; probe < 10; probe++) {
      const startMs = performance.now();
      expect((await system.ask('/livez', { agent: agent.value })).status).to.equal(200);
      slowestMs = Math.max(slowestMs, performance.now() - startMs);
    }
    return slowestMs;
  }

  it('answers 200 clients that list everything at once', async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, () => system.ask(PODS)));
    for (const { status, body } of answers) {
      expect(status).to.equal(200);
      expect(body.length).to.equal(answers[0]?.body.length);
    }
    expect(JSON.parse(answers[0]?.body ?? '').items).to.have.length(POD_COUNT);
  });

  it('answers past 500 connections that lie idle', async () => {
    await using idle = await openConnections(system.port, 500);
    expect((await system.ask(PODS)).status).to.equal(200);
    expect(await slowestProbe()).to.be.below(1_000);
    expect(idle.sockets.filter((socket) => socket.destroyed)).to.deep.equal([]);
  });

  it('refuses with 429 what goes beyond the limit, and answers probes and administrators', async () => {
    const list = () => openHttps(`https://127.0.0.1:${system.port}${PODS}`, viewer);
    {
      // Who does not read lets no more than a window of its answer come in: ten requests stay under way.
      using _slow = await slowReaders(10);
      const more = await Promise.all(Array.from({ length: 30 }, list));
      for (const { statusCode, headers } of more) {
        expect(statusCode).to.equal(429);
        expect(headers['retry-after']).to.equal('1');
      }
      for (const response of more) response.destroy();
      expect((await system.ask(PODS)).status).to.equal(200);
      expect(await slowestProbe()).to.be.below(1_000);
    }
    await system.until(async () => {
      const response = await list();
      response.destroy();
      return response.statusCode === 200;
    });
  });

  /** Requests on one HTTP/2 connection whose answers have begun and are not read. */
  async function slowReaders(count: number): Promise<Disposable> {
    const session = connectHttp2(`https://127.0.0.1:${system.port}`, viewer);
    session.on('error', () => {}); // told by the streams
    for (let index = 0; index < count; index++) {
      const [{ ':status': status }] = await once(session.request({ ':path': PODS }), 'response');
      expect(status).to.equal(200);
    }
    return { [Symbol.dispose]: () => session.destroy() };
  }

  it('forgets clients that leave in the middle of an answer', async () => {
    const openFiles = async () =>
      Number(/^process_open_fds (\d+)$/m.exec((await system.ask('/metrics')).body)?.[1]);
    const before = await openFiles();
    for (let client = 0; client < 50; client++) {
      const response = await openHttps(`https://127.0.0.1:${system.port}${PODS}`, {
        ...viewer,
        cert: system.cluster.pki.admin.certificatePem,
        key: system.cluster.pki.admin.privateKeyPem,
      });
      response.destroy();
    }
    await system.until(async () => (await openFiles()) <= before + 1);
    expect((await system.ask(PODS)).status).to.equal(200);
  });
});

/** Opens TLS connections that say nothing, and closes them when disposed. */
async function openConnections(
  port: number,
  count: number,
): Promise<AsyncDisposable & { readonly sockets: readonly TLSSocket[] }> {
  const sockets: TLSSocket[] = [];
  for (let index = 0; index < count; index++) {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
    socket.on('error', () => {}); // the server may end it
    sockets.push(socket);
    if (sockets.length % 50 === 0) await once(socket, 'secureConnect');
  }
  return {
    sockets,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function disposable(value: Agent): Disposable & { readonly value: Agent } {
  return { value, [Symbol.dispose]: () => value.destroy() };
}
