import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2';
import { Agent, request } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import type { ApiServerOptions } from '#lib/apiserver/api-server.ts';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import type { ConnectionTimeouts } from '#lib/apiserver/serving/secure-server.ts';
import { jsonOf, requestHttp1, requestHttp2 } from '#spec/support/api-request.ts';
import { eventually } from '#spec/support/eventually.ts';
import { clientPreface, resetRequest } from '#spec/support/http2-frames.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

const MAX_BODY_BYTES = 256 * 1024;

const MIB = 1024 * 1024;

/** Short, so that a spec can exceed them. */
const TIMEOUTS: ConnectionTimeouts = { idleMs: 60_000, headersMs: 500, requestMs: 500, checkMs: 10 };

describe('a client that exceeds a limit', () => {
  it('gets 429 when there are too many concurrent requests, but a probe is served', async () => {
    const requested = Promise.withResolvers<void>();
    const mayRespond = Promise.withResolvers<void>();
    const endpoints = new Map([
      [
        '/slow',
        async () => {
          requested.resolve();
          await mayRespond.promise;
        },
      ],
    ]);
    await using server = await setUp({ endpoints, inFlightLimits: { reading: 1, mutating: 1 } });
    const { port } = server;
    const slow = requestHttp1({ port, path: '/slow' });
    await requested.promise;
    expect(await server.metric('apiserver_current_inflight_requests{request_kind="readOnly"}')).to.equal(1);
    const refused = await requestHttp1({ port, path: '/version' });
    expect(refused.status).to.equal(429);
    expect(refused.headers['retry-after']).to.equal('1');
    expect(jsonOf(refused)).to.include({ reason: 'TooManyRequests' });
    expect(await server.metric('apiserver_refused_requests_total{reason="in_flight"}')).to.equal(1);
    for (const path of ['/healthz', '/livez?verbose', '/readyz']) {
      expect((await requestHttp1({ port, path })).status, path).to.equal(200);
    }
    expect((await requestHttp1({ port, path: '/livez/ping' })).status).to.equal(429);
    mayRespond.resolve();
    await slow;
    await eventually(async () => (await requestHttp1({ port, path: '/version' })).status === 200);
  });

  for (const [what, request] of [
    ['headers', { path: '/version', headers: { 'x-long': 'x'.repeat(MIB) } }],
    ['a URL', { path: `/version?${'x'.repeat(MIB)}` }],
  ] as const) {
    it(`is refused for ${what} of more than a mebibyte`, async () => {
      await using server = await setUp();
      expect((await requestHttp1({ port: server.port, ...request })).status).to.equal(431);
      expect(await server.metric('apiserver_refused_requests_total{reason="headers_too_large"}')).to.equal(1);
      const http2 = await requestHttp2({ port: server.port, ...request }).then(
        ({ status }) => status,
        () => 'cut off',
      );
      expect(http2).to.be.oneOf([431, 'cut off']);
      expect((await requestHttp1({ port: server.port, path: '/version' })).status).to.equal(200);
    });
  }

  it('begins few of the requests that it cancels in the same packet', async () => {
    let begun = 0;
    await using server = await setUp({ endpoints: new Map([['/slow', async () => void begun++]]) });
    await using client = await openHttp2(server.port);
    client.socket.write(resetRequests(100));
    await eventually(() => begun > 0);
    expect((await requestHttp2({ port: server.port, path: '/livez' })).status).to.equal(200);
    expect(begun).to.be.at.most(16);
    expect(client.socket.closed).to.equal(false);
  });

  it('loses its connection when it cancels more than 200 requests', async () => {
    await using server = await setUp();
    await using client = await openHttp2(server.port);
    client.socket.write(resetRequests(250));
    await closing(client.socket);
    expect((await requestHttp2({ port: server.port, path: '/livez' })).status).to.equal(200);
  });

  it('is cut off when more than 100 of its requests wait behind one another', async () => {
    let begun = 0;
    const endpoints = new Map([['/slow', () => new Promise<void>(() => void begun++)]]);
    await using server = await setUp({ endpoints });
    const get = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n';
    const few = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
    few.on('error', () => {});
    few.write(get.repeat(100));
    await eventually(() => begun === 100);
    const many = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
    many.write(get.repeat(5_000));
    await closing(many);
    expect(begun).to.be.at.most(200);
    expect(await server.metric('apiserver_refused_requests_total{reason="pipelined"}')).to.equal(1);
    expect(few.closed).to.equal(false);
    few.destroy();
  });

  it('is cut off when it sends frames without a request over HTTP/2', async () => {
    await using server = await setUp();
    await using client = await openHttp2(server.port);
    const windowUpdate = Buffer.from([0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    client.socket.write(Buffer.concat(Array(((2 * MIB) / windowUpdate.length) | 0).fill(windowUpdate)));
    await closing(client.socket);
    expect(await server.metric('apiserver_refused_requests_total{reason="malformed"}')).to.equal(1);
    expect((await requestHttp2({ port: server.port, path: '/livez' })).status).to.equal(200);
  });

  it('is cut off when it sends line breaks without a request', async () => {
    await using server = await setUp();
    const socket = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
    socket.write('\r\n'.repeat(MIB));
    await closing(socket);
    expect(await server.metric('apiserver_refused_requests_total{reason="malformed"}')).to.equal(1);
  });

  it('is cut off after its response when it sends a body in too many chunks', async () => {
    await using server = await setUp();
    const socket = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
    let response = '';
    socket.on('data', (data: Buffer) => {
      response += data;
    });
    socket.write('POST /version HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    socket.write('1\r\nx\r\n'.repeat(600));
    await closing(socket);
    expect(response).to.match(/^HTTP\/1\.1 405 /);
    expect(await server.metric('apiserver_refused_requests_total{reason="body_too_large"}')).to.equal(1);
  });

  it('is cut off when it does not finish its headers', async () => {
    await using server = await setUp({ timeouts: TIMEOUTS });
    const socket = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    socket.write('GET /version HTTP/1.1\r\nX: ');
    await closing(socket);
    expect(await server.metric('apiserver_refused_requests_total{reason="too_slow"}')).to.equal(1);
  });

  it('is cut off when it does not finish the TLS handshake', async () => {
    await using server = await setUp({ timeouts: TIMEOUTS });
    const socket = connectTcp({ port: server.port, host: '127.0.0.1' });
    await once(socket, 'connect');
    await closing(socket);
    expect(await server.metric('apiserver_refused_requests_total{reason="tls_handshake"}')).to.equal(1);
  });

  it('is cut off when it is idle', async () => {
    await using server = await setUp({
      timeouts: { ...TIMEOUTS, idleMs: 50, headersMs: 60_000, requestMs: 60_000 },
    });
    const socket = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    socket.write('GET /version HTTP/1.1\r\nHost: a\r\n\r\n');
    await closing(socket);
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false });
    await once(session, 'close');
    await eventually(async () => (await server.metric('apiserver_open_connections')) === 0);
    expect(await server.metric('apiserver_idle_connections_closed_total')).to.equal(2);
  });

  it('gets its response before it has sent its body, and cut off when it does not finish it', async () => {
    await using server = await setUp({ timeouts: TIMEOUTS });
    const socket = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    socket.write('PUT /version HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\nx');
    const [response] = await once(socket, 'data');
    expect(String(response)).to.match(/^HTTP\/1\.1 405 /);
    await closing(socket);
  });

  for (const [what, head] of [
    ['says', 'Content-Length: 1000000000'],
    ['does not say', 'Transfer-Encoding: chunked'],
  ] as const) {
    it(`gets its response and is cut off when it sends a long body, whose length it ${what}`, async () => {
      const clock = new ManualClock();
      await using server = await setUp({ clock });
      const socket = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
      socket.on('error', () => {}); // the server may reset the connection
      await once(socket, 'secureConnect');
      let response = '';
      socket.on('data', (data) => {
        response += data;
      });
      socket.write(`PUT /version HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n`);
      const body = 'x'.repeat(8 * MAX_BODY_BYTES);
      socket.write(head.startsWith('T') ? `${body.length.toString(16)}\r\n${body}` : body);
      await eventually(
        async () => (await server.metric('apiserver_refused_requests_total{reason="body_too_large"}')) === 1,
      );
      await eventually(() => response.startsWith('HTTP/1.1 405 '));
      await eventually(() => clock.sleeperCount > 0 || socket.closed);
      await clock.advance(500);
      await closing(socket);
      expect((await requestHttp1({ port: server.port, path: '/version' })).status).to.equal(200);
    });
  }

  it('sends bodies of the length that is allowed, one request after another', async () => {
    await using server = await setUp();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<Socket>();
    agent.on('free', (socket: Socket) => sockets.add(socket));
    for (let request = 0; request < 3; request++) {
      const body = 'x'.repeat(MAX_BODY_BYTES);
      const response = await requestHttp1({
        port: server.port,
        path: '/version',
        method: 'PUT',
        body,
        agent,
      });
      expect(response.status).to.equal(405);
    }
    expect(sockets.size).to.equal(1);
    agent.destroy();
    expect(await server.metric('apiserver_refused_requests_total{reason="body_too_large"}')).to.equal(
      undefined,
    );
  });

  it('is taken no long body from over HTTP/2 either', async () => {
    await using server = await setUp();
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false });
    const stream = session.request({ ':path': '/version', ':method': 'PUT' });
    stream.on('error', () => {}); // the server no longer reads it
    let takenBytes = 0;
    const chunk = Buffer.alloc(64 * 1024);
    const send = () => {
      stream.write(chunk, (error) => {
        if (error) return;
        takenBytes += chunk.length;
        send();
      });
    };
    send();
    const [{ ':status': status }] = await once(stream, 'response');
    expect(status).to.equal(405);
    stream.resume();
    await once(stream, 'close');
    session.destroy();
    expect(takenBytes).to.be.below(4 * MAX_BODY_BYTES);
  });

  for (const query of [unreadHttp1, unreadHttp2]) {
    it(`is cut off when it does not read its response, with ${query.name}`, async () => {
      const clock = new ManualClock();
      const endpoints = new Map<string, Endpoint>([
        [
          '/long',
          (context) => {
            context.body = Buffer.alloc(16 * MIB);
          },
        ],
      ]);
      await using server = await setUp({ clock, endpoints });
      const inFlight = () => server.metric('apiserver_current_inflight_requests{request_kind="readOnly"}');
      const readRest = await query(server.port, '/long');
      await eventually(() => clock.sleeperCount > 0);
      expect(await inFlight()).to.equal(1);
      await clock.advance(60_000);
      await eventually(async () => (await inFlight()) === 0);
      expect(await readRest()).to.be.below(16 * MIB);
      expect(await server.metric('apiserver_refused_requests_total{reason="not_read"}')).to.equal(1);
      expect((await requestHttp1({ port: server.port, path: '/long' })).body).to.have.lengthOf(16 * MIB);
      await eventually(() => clock.sleeperCount === 0);
    });
  }

  for (const [what, path, status] of [
    ['that it may not watch', '/apis/metrics.k8s.io/v1beta1/pods?watch=true', 403],
    ['that its path is too long', `/${'a'.repeat(9_000)}`, 414],
    ['that its path makes no sense', '/%', 400],
  ] as const) {
    it(`is cut off when it does not read ${what}`, async () => {
      const clock = new ManualClock();
      await using server = await setUp({ clock, authorizer: async () => ({ isAllowed: false }) });
      using session = connectWithoutWindow(server.port);
      const stream = session.request({ ':path': path });
      stream.on('error', () => {}); // the server aborts it
      const [headers] = await once(stream, 'response');
      expect(headers[':status']).to.equal(status);
      await eventually(() => clock.sleeperCount > 0);
      await clock.advance(60_000);
      await eventually(() => stream.closed);
      expect(await server.metric('apiserver_refused_requests_total{reason="not_read"}')).to.equal(1);
    });
  }

  it('is cut off in the oldest of its requests when it leaves more than 2,000 short responses untaken', async () => {
    const clock = new ManualClock(); // never advances
    await using server = await setUp({ clock });
    using sessions = new DisposableStack();
    const streams: ClientHttp2Stream[] = [];
    for (let connection = 0; connection < 21; connection++) {
      const session = sessions.use(connectWithoutWindow(server.port));
      const requested = Array.from({ length: 100 }, () => session.request({ ':path': '/livez' }));
      for (const stream of requested) stream.on('error', () => {}); // the server aborts some
      await Promise.all(requested.map((stream) => once(stream, 'response')));
      streams.push(...requested);
    }
    const areClosed = (from: number, to: number) => streams.slice(from, to).map(({ closed }) => closed);
    await eventually(() => areClosed(0, 100).every(Boolean));
    expect(areClosed(100, 2_100)).not.to.include(true);
    expect(await server.metric('apiserver_refused_requests_total{reason="not_read"}')).to.equal(100);
    expect((await requestHttp2({ port: server.port, path: '/livez' })).body.toString()).to.equal('ok');
    sessions.dispose();
    await eventually(() => clock.sleeperCount === 0);
  });
});

/** A connection over HTTP/2 whose flow-control window permits only heads of responses. */
function connectWithoutWindow(port: number): ClientHttp2Session & Disposable {
  const session = connectHttp2(`https://127.0.0.1:${port}`, {
    rejectUnauthorized: false,
    settings: { initialWindowSize: 0 },
  });
  session.on('error', () => {}); // it may end with requests in progress
  return Object.assign(session, { [Symbol.dispose]: () => session.destroy() });
}

/** Sends a request and reads only the head of the response. @returns reads the rest, and returns its number of bytes */
async function unreadHttp1(port: number, path: string): Promise<() => Promise<number>> {
  const outgoing = request({ host: '127.0.0.1', port, path, agent: false, rejectUnauthorized: false });
  outgoing.end();
  const [response] = await once(outgoing, 'response');
  return () => lengthOf(response);
}

async function unreadHttp2(port: number, path: string): Promise<() => Promise<number>> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  const stream = session.request({ ':path': path });
  await once(stream, 'response');
  return async () => {
    const bytes = await lengthOf(stream);
    session.destroy();
    return bytes;
  };
}

async function lengthOf(stream: Readable): Promise<number> {
  let bytes = 0;
  stream.on('error', () => {}); // it was aborted
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  if (!stream.closed) await new Promise((resolve) => stream.once('close', resolve));
  return bytes;
}

/** A connection over HTTP/2 on which a spec writes raw frames. */
async function openHttp2(port: number) {
  const socket = connectTls({ port, host: '127.0.0.1', ALPNProtocols: ['h2'], rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  socket.on('error', () => {}); // the server may close it
  socket.resume();
  socket.write(clientPreface());
  return { socket, [Symbol.asyncDispose]: async () => void socket.destroy() };
}

function resetRequests(count: number): Buffer {
  return Buffer.concat(Array.from({ length: count }, (_, index) => resetRequest(2 * index + 1, '/slow')));
}

async function setUp(options: Partial<ApiServerOptions> = {}) {
  const registry = new Registry();
  const server = await startTestApiServer({ registry, ...options });
  return {
    port: server.address.port,
    metric: async (series: string) => {
      const lines = (await registry.metrics()).split('\n');
      const line = lines.find((one) => one.startsWith(`${series} `));
      return line === undefined ? undefined : Number(line.slice(series.length));
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Reads until the other side closes, cleanly or not. */
async function closing(socket: Socket): Promise<void> {
  socket.on('error', () => {});
  socket.resume();
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
}
