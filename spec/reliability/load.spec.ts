import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { Agent } from 'node:https';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { readProcessUsage } from '#spec/benchmarks/process-usage.ts';
import { openHttps } from '#spec/support/https-request.ts';
import { type ServerInCluster, startServerInCluster } from '#spec/support/spawned-server-in-cluster.ts';

const PODS = '/apis/metrics.k8s.io/v1beta1/pods';
const NODES = 20;
const POD_COUNT = 1000;
const VIEWER = 'viewer';
const FLOODING_CLIENTS = 50;
const IDLE_CONNECTIONS = 4_000;
/** The server's limit of all connections together. */
const MAX_CONNECTIONS = 2_000;
/** TLS connections among them: thousands of handshakes would take too long. */
const SECURED_CONNECTIONS = 100;
const PROBES = 10;
const WATCHERS = 60;
/** Three times as many used between 50 and 160 MiB, most of which is garbage that is not collected yet. */
const WATCHERS_BYTES = 192 * 2 ** 20;
/** Maximum rejected requests per flooding client during a probe: one or two are normal, while a starved probe waits for all. */
const MAX_REFUSALS = 10;
/** For all other open files of the server and this process. */
const SPARE_FILES = 500;

// The server is a separate process, so that its clients' load is not counted as its own.
describe('a server under load', function () {
  this.timeout(300_000); // its many clients share the machine with it

  let system: ServerInCluster;
  let viewer: { readonly cert: string; readonly key: string; readonly rejectUnauthorized: false };

  before(async () => {
    const rules = [{ verbs: ['list'], apiGroups: ['metrics.k8s.io'], resources: ['pods'] }];
    const grants = [{ name: VIEWER, role: 'viewer-of-metrics', users: [VIEWER], rules }];
    system = await startServerInCluster(
      { nodes: NODES, podsPerNode: POD_COUNT / NODES, grants },
      {
        flags: [
          '--metric-resolution=10s',
          '--kubelet-request-timeout=5s',
          '--max-requests-inflight=10',
          '--enable-watch',
        ],
      },
    );
    const { certificatePem: cert, privateKeyPem: key } = system.cluster.pki.clientCa.issue({
      subject: { commonName: VIEWER, organizations: [] },
      usages: ['clientAuth'],
    });
    viewer = { cert, key, rejectUnauthorized: false };
    await system.until(async () => JSON.parse((await system.request(PODS)).body).items.length === POD_COUNT);
  });
  after(() => system[Symbol.asyncDispose]());

  /** Sends ten probes over one connection and expects their responses. */
  async function probe(): Promise<void> {
    using agent = disposable(new Agent({ keepAlive: true }));
    for (let index = 0; index < PROBES; index++) {
      expect((await system.request('/livez', { agent: agent.value })).status).to.equal(200);
    }
  }

  async function openFiles(): Promise<number> {
    return Number(/^process_open_fds (\d+)$/m.exec((await system.request('/metrics')).body)?.[1]);
  }

  it('serves 200 clients that list everything at once', async () => {
    using clients = await connectedClients(200);
    const responses = await Promise.all(clients.agents.map((agent) => system.request(PODS, { agent })));
    for (const { status, body } of responses) {
      expect(status).to.equal(200);
      expect(body.length).to.equal(responses[0]?.body.length);
    }
    expect(JSON.parse(responses[0]?.body ?? '').items).to.have.length(POD_COUNT);
  });

  /** Opens one connection per client, in batches: simultaneous handshakes would time out on a slow machine. */
  async function connectedClients(
    count: number,
  ): Promise<Disposable & { readonly agents: readonly Agent[] }> {
    const agents = Array.from({ length: count }, () => new Agent({ keepAlive: true }));
    for (let first = 0; first < count; first += 10)
      await Promise.all(agents.slice(first, first + 10).map((agent) => system.request('/livez', { agent })));
    return {
      agents,
      [Symbol.dispose]: () => {
        for (const agent of agents) agent.destroy();
      },
    };
  }

  it('accepts at most 2,000 connections of an address that opens thousands, and serves others', async () => {
    const count = Math.min(IDLE_CONNECTIONS, openFilesLimit() - SPARE_FILES);
    expect(count, 'files that a process may open').to.be.above(MAX_CONNECTIONS);
    const filesBefore = await openFiles();
    await using _idle = await openConnections(system.port, { count, secured: SECURED_CONNECTIONS });
    expect((await system.request(PODS)).status).to.equal(200);
    await probe();
    expect(await openFiles()).to.be.at.most(filesBefore + MAX_CONNECTIONS + NODES); // kubelets may be scraped at this time
  });

  it('tolerates watchers that never read, and releases them when they disconnect', async () => {
    const residentBytes = () => readProcessUsage(system.server.pid).residentBytes;
    const [filesBefore, bytesBefore] = [await openFiles(), residentBytes()];
    {
      await using _watchers = await silentWatchers(WATCHERS);
      expect((await system.request(PODS)).status).to.equal(200);
      await probe();
      expect(residentBytes() - bytesBefore).to.be.below(WATCHERS_BYTES);
    }
    await system.until(async () => (await openFiles()) <= filesBefore + 1);
  });

  /** Watches all pods over separate connections; the responses have begun and are not read. */
  async function silentWatchers(count: number): Promise<AsyncDisposable> {
    const { certificatePem: cert, privateKeyPem: key } = system.cluster.pki.admin;
    const url = `https://127.0.0.1:${system.port}${PODS}?watch=1`;
    const open = async () => {
      const response = await openHttps(url, { cert, key, rejectUnauthorized: false });
      expect(response.statusCode).to.equal(200);
      return response.pause();
    };
    const responses: Awaited<ReturnType<typeof open>>[] = [];
    while (responses.length < count) responses.push(...(await Promise.all(Array.from({ length: 10 }, open)))); // simultaneous handshakes would time out
    return {
      [Symbol.asyncDispose]: async () => {
        for (const response of responses) response.destroy();
      },
    };
  }

  it('rejects requests beyond the limit with 429, and serves probes and administrators meanwhile', async () => {
    using agent = disposable(new Agent({ keepAlive: true }));
    const list = () => system.request(PODS, { ...viewer, agent: agent.value });
    {
      // A client that does not read receives only one window of its response: ten requests remain in progress.
      using _slow = await slowReaders(10);
      let isOver = false;
      let refused = 0;
      const flood = Array.from({ length: FLOODING_CLIENTS }, async () => {
        do {
          const { status, headers } = await list();
          expect(status).to.equal(429);
          expect(headers['retry-after']).to.equal('1');
          refused++;
        } while (!isOver);
      });
      const flooded = Promise.all(flood);
      flooded.catch(() => {}); // awaited below
      expect((await system.request(PODS)).status).to.equal(200);
      const refusedBefore = refused;
      await probe();
      // A probe waits in the queue only for the requests before it, and so does its successor.
      expect(refused - refusedBefore).to.be.below(PROBES * MAX_REFUSALS * FLOODING_CLIENTS);
      isOver = true;
      await flooded;
    }
    await system.until(async () => (await list()).status === 200);
  });

  /** Requests on one HTTP/2 connection whose responses have begun and are not read. */
  async function slowReaders(count: number): Promise<Disposable> {
    const session = connectHttp2(`https://127.0.0.1:${system.port}`, viewer);
    session.on('error', () => {}); // reported by the streams
    for (let index = 0; index < count; index++) {
      const [{ ':status': status }] = await once(session.request({ ':path': PODS }), 'response');
      expect(status).to.equal(200);
    }
    return { [Symbol.dispose]: () => session.destroy() };
  }

  it('releases clients that disconnect during a response', async () => {
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
    expect((await system.request(PODS)).status).to.equal(200);
  });
});

/** Opens idle connections from a separate address, some of them with TLS, and closes them when disposed. */
async function openConnections(
  port: number,
  { count, secured }: { readonly count: number; readonly secured: number },
): Promise<AsyncDisposable> {
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index++) {
    const isSecured = index < secured;
    const target = { host: '127.0.0.1', port, localAddress: '127.0.0.2' };
    const socket = isSecured ? connectTls({ ...target, rejectUnauthorized: false }) : connect(target);
    socket.on('error', () => {}); // the server may close it
    sockets.push(socket);
    if (sockets.length % 50 === 0) await once(socket, isSecured ? 'secureConnect' : 'connect');
  }
  return {
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Limit of open files per process; Node raises its own to the maximum. */
function openFilesLimit(): number {
  const limit = /^Max open files +\d+ +(\d+|unlimited)/m.exec(
    readFileSync('/proc/self/limits', 'latin1'),
  )?.[1];
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit);
}

function disposable(value: Agent): Disposable & { readonly value: Agent } {
  return { value, [Symbol.dispose]: () => value.destroy() };
}
