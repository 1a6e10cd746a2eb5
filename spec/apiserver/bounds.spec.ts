import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import type { ApiServerOptions } from '#lib/apiserver/api-server.ts';
import type { ConnectionTimeouts } from '#lib/apiserver/serving/secure-server.ts';
import { askHttp1, askHttp2, jsonOf } from '#spec/support/api-request.ts';
import { eventually } from '#spec/support/eventually.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

const MIB = 1024 * 1024;

/** Short ones, so that a spec can outlast them. */
const TIMEOUTS: ConnectionTimeouts = { idleMs: 60_000, headersMs: 500, requestMs: 500, checkMs: 10 };

describe('A client that goes past a bound', () => {
  it('is told to come again when too many requests are under way, and the probes with it', async () => {
    const asked = Promise.withResolvers<void>();
    const mayAnswer = Promise.withResolvers<void>();
    const endpoints = new Map([
      [
        '/slow',
        async () => {
          asked.resolve();
          await mayAnswer.promise;
        },
      ],
    ]);
    await using server = await setUp({ endpoints, inFlightLimits: { reading: 1, mutating: 1 } });
    const { port } = server;
    const slow = askHttp1({ port, path: '/slow' });
    await asked.promise;
    expect(await server.metric('apiserver_current_inflight_requests{request_kind="readOnly"}')).to.equal(1);
    const refused = await askHttp1({ port, path: '/version' });
    expect(refused.status).to.equal(429);
    expect(refused.headers['retry-after']).to.equal('1');
    expect(jsonOf(refused)).to.include({ reason: 'TooManyRequests' });
    expect(await server.metric('apiserver_refused_requests_total{reason="in_flight"}')).to.equal(1);
    mayAnswer.resolve();
    await slow;
    await eventually(async () => (await askHttp1({ port, path: '/version' })).status === 200);
  });

  for (const [what, request] of [
    ['headers', { path: '/version', headers: { 'x-long': 'x'.repeat(MIB) } }],
    ['a URL', { path: `/version?${'x'.repeat(MIB)}` }],
  ] as const) {
    it(`is refused for ${what} of more than a mebibyte`, async () => {
      await using server = await setUp();
      expect((await askHttp1({ port: server.port, ...request })).status).to.equal(431);
      expect(await server.metric('apiserver_refused_requests_total{reason="headers_too_large"}')).to.equal(1);
      const http2 = await askHttp2({ port: server.port, ...request }).then(
        ({ status }) => status,
        () => 'cut off',
      );
      expect(http2).to.be.oneOf([431, 'cut off']);
      expect((await askHttp1({ port: server.port, path: '/version' })).status).to.equal(200);
    });
  }

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

  it('is cut off when it lies idle', async () => {
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
  });

  it('is answered before it has sent its body, and cut off when it does not finish it', async () => {
    await using server = await setUp({ timeouts: TIMEOUTS });
    const socket = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    socket.write('PUT /version HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\nx');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).to.match(/^HTTP\/1\.1 405 /);
    await closing(socket);
  });
});

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

/** Reads until the other side closes; how it does that is its own affair. */
async function closing(socket: Socket): Promise<void> {
  socket.on('error', () => {});
  socket.resume();
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
}
