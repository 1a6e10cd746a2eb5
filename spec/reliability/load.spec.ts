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
/** The server's bound on all connections together. */
const MAX_CONNECTIONS = 2_000;
/** Of these: a handshake takes time, which thousands would make long. */
const SECURED_CONNECTIONS = 100;
const PROBES = 10;
const WATCHERS = 60;
/** Of three times as many, between 50 and 160 MiB were seen, of which most is memory that is yet to be collected. */
const WATCHERS_BYTES = 192 * 2 ** 20;
/** How many requests of each flooding client may be refused during a probe; one or two were seen, and one that starves lets all pass. */
const MAX_REFUSALS = 10;
/** For everything else that the server and this process have open. */
const SPARE_FILES = 500;

// The server is a process of its own: its clients' work is not to look like its own.
describe('a server under load', function () {
  this.timeout(300_000); // its clients are many, and share the machine with it

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
    await system.until(async () => JSON.parse((await system.ask(PODS)).body).items.length === POD_COUNT);
  });
  after(() => system[Symbol.asyncDispose]());

  /** Probes ten times over one connection, and gets its responses. */
  async function probe(): Promise<void> {
    using agent = disposable(new Agent({ keepAlive: true }));
    for (let index = 0; index < PROBES; index++) {
      expect((await system.ask('/livez', { agent: agent.value })).status).to.equal(200);
    }
  }

  async function openFiles(): Promise<number> {
    return Number(/^process_open_fds (\d+)$/m.exec((await system.ask('/metrics')).body)?.[1]);
  }

  it('serves 200 clients that list everything at once', async () => {
    using clients = await connectedClients(200);
    const responses = await Promise.all(clients.agents.map((agent) => system.ask(PODS, { agent })));
    for (const { status, body } of responses) {
      expect(status).to.equal(200);
      expect(body.length).to.equal(responses[0]?.body.length);
    }
    expect(JSON.parse(responses[0]?.body ?? '').items).to.have.length(POD_COUNT);
  });

  /** Clients that have a connection each: handshakes all at once would come late on a slow machine. */
  async function connectedClients(
    count: number,
  ): Promise<Disposable & { readonly agents: readonly Agent[] }> {
    const agents = Array.from({ length: count }, () => new Agent({ keepAlive: true }));
    for (let first = 0; first < count; first += 10)
      await Promise.all(agents.slice(first, first + 10).map((agent) => system.ask('/livez', { agent })));
    return {
      agents,
      [Symbol.dispose]: () => {
        for (const agent of agents) agent.destroy();
      },
    };
  }

  it('holds no more than 2,000 connections of an address that opens thousands, and serves others', async () => {
    const count = Math.min(IDLE_CONNECTIONS, openFilesLimit() - SPARE_FILES);
    expect(count, 'files that a process may open').to.be.above(MAX_CONNECTIONS);
    const filesBefore = await openFiles();
    await using _idle = await openConnections(system.port, { count, secured: SECURED_CONNECTIONS });
    expect((await system.ask(PODS)).status).to.equal(200);
    await probe();
    expect(await openFiles()).to.be.at.most(filesBefore + MAX_CONNECTIONS + NODES); // kubelets may be asked just now
  });

  it('holds watchers that never read, and is rid of them when they go', async () => {
    const residentBytes = () => readProcessUsage(system.server.pid).residentBytes;
    const [filesBefore, bytesBefore] = [await openFiles(), residentBytes()];
    {
      await using _watchers = await silentWatchers(WATCHERS);
      expect((await system.ask(PODS)).status).to.equal(200);
      await probe();
      expect(residentBytes() - bytesBefore).to.be.below(WATCHERS_BYTES);
    }
    await system.until(async () => (await openFiles()) <= filesBefore + 1);
  });

  /** Watches all pods over connections of their own; the responses have begun and are not read. */
  async function silentWatchers(count: number): Promise<AsyncDisposable> {
    const { certificatePem: cert, privateKeyPem: key } = system.cluster.pki.admin;
    const url = `https://127.0.0.1:${system.port}${PODS}?watch=1`;
    const open = async () => {
      const response = await openHttps(url, { cert, key, rejectUnauthorized: false });
      expect(response.statusCode).to.equal(200);
      return response.pause();
    };
    const responses: Awaited<ReturnType<typeof open>>[] = [];
    while (responses.length < count) responses.push(...(await Promise.all(Array.from({ length: 10 }, open)))); // all at once would come late for their handshakes
    return {
      [Symbol.asyncDispose]: async () => {
        for (const response of responses) response.destroy();
      },
    };
  }

  it('refuses with 429 what goes beyond the limit, and serves probes and administrators in the flood', async () => {
    using agent = disposable(new Agent({ keepAlive: true }));
    const list = () => system.ask(PODS, { ...viewer, agent: agent.value });
    {
      // Who does not read lets no more than a window of its response come in: ten requests stay under way.
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
      expect((await system.ask(PODS)).status).to.equal(200);
      const refusedBefore = refused;
      await probe();
      // A probe waits in line: it waits for no more than what was there before it, and so does its successor.
      expect(refused - refusedBefore).to.be.below(PROBES * MAX_REFUSALS * FLOODING_CLIENTS);
      isOver = true;
      await flooded;
    }
    await system.until(async () => (await list()).status === 200);
  });

  /** Requests on one HTTP/2 connection whose responses have begun and are not read. */
  async function slowReaders(count: number): Promise<Disposable> {
    const session = connectHttp2(`https://127.0.0.1:${system.port}`, viewer);
    session.on('error', () => {}); // told by the streams
    for (let index = 0; index < count; index++) {
      const [{ ':status': status }] = await once(session.request({ ':path': PODS }), 'response');
      expect(status).to.equal(200);
    }
    return { [Symbol.dispose]: () => session.destroy() };
  }

  it('forgets clients that leave in the middle of a response', async () => {
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

/** Opens connections that say nothing, so many of them over TLS, from an address of their own, and closes them when disposed. */
async function openConnections(
  port: number,
  { count, secured }: { readonly count: number; readonly secured: number },
): Promise<AsyncDisposable> {
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index++) {
    const isSecured = index < secured;
    const target = { host: '127.0.0.1', port, localAddress: '127.0.0.2' };
    const socket = isSecured ? connectTls({ ...target, rejectUnauthorized: false }) : connect(target);
    socket.on('error', () => {}); // the server may end it
    sockets.push(socket);
    if (sockets.length % 50 === 0) await once(socket, isSecured ? 'secureConnect' : 'connect');
  }
  return {
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** How many files a process may have open; Node takes as many as it may be given. */
function openFilesLimit(): number {
  const limit = /^Max open files +\d+ +(\d+|unlimited)/m.exec(
    readFileSync('/proc/self/limits', 'latin1'),
  )?.[1];
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit);
}

function disposable(value: Agent): Disposable & { readonly value: Agent } {
  return { value, [Symbol.dispose]: () => value.destroy() };
}
