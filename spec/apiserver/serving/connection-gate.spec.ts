import { once } from 'node:events';
import { request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { ANONYMOUS } from '#lib/apiserver/http/api-context.ts';
import { ConnectionGate, type ConnectionLimits } from '#lib/apiserver/serving/connection-gate.ts';
import { eventually } from '#spec/support/eventually.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

const HOUR_MS = 3_600_000;

describe('ConnectionGate', () => {
  it('admits another address while 3,000 connections of one address stop during their handshake', async () => {
    await using server = await setUp();
    await server.stall(3_000, '127.0.0.2');
    await eventually(async () => (await server.handshakes()) === 128);
    await eventually(async () => (await server.refused('connections')) === 1_000);
    await eventually(async () => (await server.connections()) === 2_000); // rejected ones have closed
    expect(await server.send('127.0.0.3')).to.equal(200);
    expect(await server.handshakes()).to.be.within(126, 128);
  });

  it('queues connections of the same address until stalled handshakes have had two seconds', async () => {
    await using server = await setUp({ handshakes: 4, connections: 100 });
    await server.stall(10, '127.0.0.2');
    await eventually(async () => (await server.handshakes()) === 4);
    const response = server.send('127.0.0.2');
    for (let round = 0; round < 2; round++) {
      await eventually(async () => (await server.handshakes()) === 4);
      await server.clock.advance(1_999);
      expect(await server.refused('handshakes')).to.equal(round === 0 ? undefined : 4 * round);
      await server.clock.advance(1);
    }
    expect(await response).to.equal(200);
  });

  it('cuts off a connection that waits for as long as a handshake may take', async () => {
    await using server = await setUp({ handshakes: 0, connections: 100 });
    const [socket] = await server.stall(1, '127.0.0.2');
    await eventually(async () => (await server.connections()) === 1);
    await server.clock.advance(32_000);
    await closing(socket);
    expect(await server.refused('handshakes')).to.equal(1);
    expect(await server.connections()).to.equal(0);
  });

  it('starts one handshake per turn of the event loop, round robin by address', async () => {
    const gate = gateAlone();
    for (const address of ['a', 'a', 'a', 'b', 'b']) gate.admit(address);
    expect(gate.started).to.deep.equal([]);
    const started: string[][] = [];
    for (let turn = 0; turn < 6; turn++) {
      await new Promise(setImmediate);
      started.push(gate.started.splice(0));
    }
    expect(started).to.deep.equal([[], ['a'], ['b'], ['a'], ['b'], ['a']]); // connections arrived before the first
  });

  it('starts a handshake in every 16th turn only, as long as connections arrive', async () => {
    const gate = gateAlone();
    const startedAfter = async (turns: number, address: string) => {
      for (let turn = 0; turn < turns; turn++) {
        gate.admit(address);
        await new Promise(setImmediate);
      }
      return gate.started.splice(0);
    };
    expect(await startedAfter(15, 'flood')).to.deep.equal([]);
    expect(await startedAfter(1, 'flood')).to.deep.equal(['flood']);
    expect(await startedAfter(15, 'flood')).to.deep.equal([]);
    expect(await startedAfter(1, 'other')).to.deep.equal(['flood']);
    expect(await startedAfter(16, 'flood')).to.deep.equal(['other']);
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
    expect(gate.started).to.deep.equal(['flood', 'flood', 'flood']);
  });

  it('outlives a client that resets its connection while that waits', async () => {
    await using server = await setUp({ handshakes: 0, connections: 100 });
    const [socket] = await server.stall(1, '127.0.0.2');
    await eventually(async () => (await server.connections()) === 1);
    socket?.resetAndDestroy(); // an error without a listener would end this process
    await eventually(async () => (await server.connections()) === 0);
  });

  it('admits a burst of one client one by one, and refuses none of it', async () => {
    await using server = await setUp({ handshakes: 4, connections: 100 });
    const responses = await Promise.all(Array.from({ length: 60 }, () => server.send('127.0.0.2')));
    expect(new Set(responses)).to.deep.equal(new Set([200]));
    expect(await server.refused('handshakes')).to.equal(undefined);
    await eventually(async () => (await server.handshakes()) === 0);
  });

  for (const limit of ['handshakes', 'connections'] as const) {
    for (const [what, path, headers, places] of [
      ['authenticated', '/version', { authorization: 'Bearer alice' }, 64],
      ['asked for our health', '/livez', {}, 4],
    ] as const) {
      it(`reserves ${limit} for an address that ${what} within the last hour`, async () => {
        await using server = await setUp({ handshakes: 8, connections: 100, [limit]: 8 });
        expect(await server.send('127.0.0.9', { path, headers })).to.equal(200);
        await server.clock.advance(HOUR_MS - 1);
        for (let stranger = 0; stranger < 8; stranger++) await server.stall(1, `127.1.0.${stranger + 1}`);
        await eventually(async () => (await server.connections()) === 8);
        const late = server.send('127.1.0.10').catch(() => 'refused');
        expect(await server.send('127.0.0.9')).to.equal(200);
        await server.stall(8, '127.0.0.9');
        await eventually(
          async () =>
            (await server.refused(limit)) === (limit === 'handshakes' ? 1 : 2) + Math.min(7, places - 1),
        );
        if (limit === 'connections') expect(await late).to.equal('refused');
      });
    }
  }

  it('protects the connections that are reserved for an authenticated address', async () => {
    await using server = await setUp({ handshakes: 8, connections: 100 });
    await server.send('127.0.0.9', { headers: { authorization: 'Bearer alice' } });
    await server.stall(8, '127.0.0.9');
    await eventually(async () => (await server.handshakes()) === 8);
    await server.stall(1, '127.0.0.2');
    await eventually(async () => (await server.connections()) === 9);
    expect(await server.handshakes()).to.equal(8);
    expect(await server.refused('handshakes')).to.equal(undefined);
  });

  it('does not count a finished handshake while its connection is open', async () => {
    await using server = await setUp({ handshakes: 1, connections: 100 });
    const retained = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(retained, 'secureConnect');
    await eventually(async () => (await server.handshakes()) === 0);
    expect(await server.send('127.0.0.1')).to.equal(200);
    expect(await server.connections()).to.be.at.least(1);
    retained.destroy();
  });

  it('reserves nothing for an address an hour after its last request', async () => {
    await using server = await setUp({ handshakes: 8, connections: 8 });
    expect(await server.send('127.0.0.9', { path: '/livez' })).to.equal(200);
    await server.clock.advance(HOUR_MS);
    for (let stranger = 0; stranger < 8; stranger++) await server.stall(1, `127.1.0.${stranger + 1}`);
    await eventually(async () => (await server.connections()) === 8);
    expect(await server.send('127.0.0.9').catch(() => 'refused')).to.equal('refused');
    expect(await server.refused('connections')).to.equal(1);
  });

  it('ends with the server, however many wait', async () => {
    const server = await setUp({ handshakes: 1, connections: 100 });
    const sockets = await server.stall(20, '127.0.0.2');
    await eventually(async () => (await server.connections()) === 20);
    const disposed = server[Symbol.asyncDispose]();
    await Promise.all(sockets.slice(1).map(closing));
    await server.clock.advance(1_500);
    await disposed;
    expect(server.clock.sleeperCount).to.equal(0);
  });
});

/** A gate whose connections have no handshake. */
function gateAlone() {
  const gate = new ConnectionGate({
    ...{ limits: { connections: 100, handshakes: 100 }, waitMs: 1000, clock: new ManualClock() },
    ...{ reservedFor: () => 0, onRefused: (reason) => expect.fail(reason) },
  });
  const started: string[] = [];
  let remotePort = 0;
  return {
    /** Addresses of the connections whose handshakes have started. */
    started,
    admit(remoteAddress: string) {
      const socket = Object.assign(new Duplex(), { remoteAddress, remotePort: remotePort++ });
      gate.admit(socket as unknown as Socket, () => void started.push(remoteAddress));
    },
  };
}

async function setUp(connectionLimits?: ConnectionLimits) {
  const [registry, clock] = [new Registry(), new ManualClock()];
  const sockets: Socket[] = [];
  const server = await startTestApiServer({
    registry,
    clock,
    ...(connectionLimits && { connectionLimits }),
    authenticator: async ({ headers }) =>
      headers.authorization ? { ...ANONYMOUS, name: 'alice' } : ANONYMOUS,
  });
  const { port } = server.address;
  const hello = await clientHello();
  const metric = async (series: string) => {
    const line = (await registry.metrics()).split('\n').find((one) => one.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length));
  };
  return {
    port,
    clock,
    handshakes: () => metric('apiserver_tls_handshakes'),
    connections: () => metric('apiserver_open_connections'),
    refused: (reason: string) => metric(`apiserver_refused_requests_total{reason="${reason}"}`),
    /** Opens connections that send only a ClientHello. */
    stall: async (count: number, localAddress: string) => {
      const opened = Array.from({ length: count }, () => connect({ port, host: '127.0.0.1', localAddress }));
      for (const socket of opened) {
        socket.on('error', () => {}); // aborted
        socket.resume();
        socket.once('connect', () => socket.write(hello));
      }
      sockets.push(...opened);
      await Promise.all(opened.map((socket) => once(socket, 'connect').catch(() => {})));
      return opened;
    },
    send: async (localAddress: string, options: { path?: string; headers?: Record<string, string> } = {}) => {
      const outgoing = request({
        host: '127.0.0.1',
        port,
        path: '/version',
        ...options,
        localAddress,
        agent: false,
        rejectUnauthorized: false,
      });
      outgoing.end();
      const [response] = await once(outgoing, 'response');
      await buffer(response);
      return response.statusCode as number;
    },
    [Symbol.asyncDispose]: async () => {
      const disposed = server[Symbol.asyncDispose]();
      for (const socket of sockets) socket.destroy();
      await disposed;
    },
  };
}

/** The first message of a TLS client. */
async function clientHello(): Promise<Buffer> {
  const hello = Promise.withResolvers<Buffer>();
  const wire = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      hello.resolve(chunk);
      done();
    },
  });
  const socket = connectTls({ socket: wire, servername: 'server' });
  socket.on('error', () => {}); // it ends here
  const bytes = await hello.promise;
  socket.destroy();
  return bytes;
}

async function closing(socket: Socket | undefined): Promise<void> {
  if (socket && !socket.closed) await new Promise((resolve) => socket.once('close', resolve));
}
