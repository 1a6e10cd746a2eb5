import type net from 'node:net';
import { expect } from 'chai';
import { Semaphore } from '#lib/concurrency/semaphore.ts';
import { NameResolver } from '#lib/dns/name-resolver.ts';
import { Dialer, type KubeletTls } from '#lib/resource-metrics/scrape/kubelet/dialer.ts';
import { KubeletClient } from '#lib/resource-metrics/scrape/kubelet/kubelet-client.ts';
import { growthOf } from '#spec/reliability/foreign-text/growth.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { memoryInUse } from '#spec/support/open-resources.ts';
import { httpResponse, RawServer, responding } from '#spec/support/raw-server.ts';
import { until } from '#spec/support/until.ts';

/** Below realistic limits, for a fast spec. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

const never = new AbortController().signal;

function setup({
  authorization,
  authorizationDelayMs = 0,
  dialDelayMs = 0,
  permitDelayMs = 0,
}: {
  readonly authorization?: string;
  /** Delay of the credentials. */
  readonly authorizationDelayMs?: number;
  readonly dialDelayMs?: number;
  /** Delay of the handshake permit. */
  readonly permitDelayMs?: number;
} = {}) {
  const clock = new ManualClock();
  const none = async () => '';
  const resolver = new NameResolver({ clock, timeoutMs: 3000, hosts: none, resolvConf: none });
  const handshakes = new Semaphore(64);
  const dialer = new Dialer({ clock, resolver, handshakes, tls: undefined, dialTimeoutMs: 3000 });
  let credentials: KubeletTls | undefined;
  const slowDialer = {
    get credentials() {
      return credentials;
    },
    dial: async (...[target, deadline]: Parameters<Dialer['dial']>) => {
      if (dialDelayMs > 0) await clock.sleep(dialDelayMs, { signal: deadline.signal });
      if (permitDelayMs > 0) {
        using _paused = deadline.pause?.();
        await clock.sleep(permitDelayMs, { signal: deadline.signal });
      }
      return await dialer.dial(target, deadline);
    },
  };
  const client = new KubeletClient({
    clock,
    dialer: slowDialer,
    authorization: async () => {
      if (authorizationDelayMs > 0) await clock.sleep(authorizationDelayMs);
      return authorization;
    },
    requestTimeoutMs: 10_000,
    maxResponseBytes: MAX_RESPONSE_BYTES,
  });
  const get = (port: number) =>
    client.get({ nodeName: 'a', host: '127.0.0.1', port }, '/path?x=y', { signal: never, read: String });
  const failure = (port: number) =>
    get(port).then(
      (text) => `responded ${text}`,
      (error: Error & { code?: string }) => error.code ?? error.message,
    );
  const rotate = (to: KubeletTls) => {
    credentials = to;
  };
  const dispose = () => client[Symbol.asyncDispose]();
  return { client, clock, dialer, failure, get, rotate, [Symbol.asyncDispose]: dispose };
}

describe('KubeletClient', () => {
  it('sends path, host and current credentials', async () => {
    let request = '';
    await using server = await RawServer.start((socket) =>
      socket.on('data', (data) => {
        request += data;
        socket.write(httpResponse('{}'));
      }),
    );
    await using system = setup({ authorization: 'Bearer abc' });
    expect(await system.get(server.port)).to.equal('{}');
    expect(request).to.match(/^GET \/path\?x=y HTTP\/1\.1\r\n/);
    expect(request.toLowerCase()).to.include(`host: 127.0.0.1:${server.port}\r\n`);
    expect(request.toLowerCase()).to.include('authorization: bearer abc\r\n');
  });

  it('reuses the connection when only the authorities change', async () => {
    await using server = await RawServer.start(responding(httpResponse('1')));
    await using system = setup();
    await system.get(server.port);
    system.rotate({ ca: 'another authority' });
    await system.get(server.port);
    expect(server.sockets).to.have.length(1);
  });

  it('opens a new connection when the client certificate changes', async () => {
    await using server = await RawServer.start(responding(httpResponse('1')));
    await using system = setup();
    await system.get(server.port);
    system.rotate({ cert: 'the next', key: 'its key' });
    await system.get(server.port);
    await system.get(server.port);
    expect(server.sockets).to.have.length(2);
    await until(system.clock, () => server.openSockets.length === 1);
  });

  it('reuses the connection', async () => {
    await using server = await RawServer.start(responding(httpResponse('1')));
    await using system = setup();
    await system.get(server.port);
    await system.clock.advance(60_000);
    await system.get(server.port);
    expect(server.sockets).to.have.length(1);
    expect(server.openSockets).to.have.length(1);
  });

  it('replaces a connection that the kubelet closed', async () => {
    await using server = await RawServer.start(responding(httpResponse('1')));
    await using system = setup();
    await system.get(server.port);
    server.sockets[0]?.destroy();
    await until(system.clock, () => server.openSockets.length === 0);
    expect(await system.get(server.port)).to.equal('1');
    expect(server.sockets).to.have.length(2);
  });

  it('repeats a request once if a pooled connection is closed', async () => {
    const closing = (socket: net.Socket, index: number) => {
      let requests = 0;
      socket.on('data', () => {
        if (index === 0 && ++requests === 2) socket.destroy();
        else socket.write(httpResponse(`from ${index}`));
      });
    };
    await using server = await RawServer.start(closing);
    await using system = setup();
    expect(await system.get(server.port)).to.equal('from 0');
    expect(await system.get(server.port)).to.equal('from 1');
  });

  it('repeats a request once if a pooled connection is reset', async () => {
    await using server = await RawServer.start((socket, index) => {
      let requests = 0;
      socket.on('data', () => {
        if (index === 0 && ++requests === 2) socket.resetAndDestroy();
        else socket.write(httpResponse(`from ${index}`));
      });
    });
    await using system = setup();
    expect(await system.get(server.port)).to.equal('from 0');
    expect(await system.get(server.port)).to.equal('from 1');
  });

  it('pools the later of two connections to one address', async () => {
    await using server = await RawServer.start(responding(httpResponse('1')));
    await using system = setup();
    await Promise.all([system.get(server.port), system.get(server.port)]);
    await until(system.clock, () => server.openSockets.length === 1);
    await system.get(server.port);
    expect(server.sockets).to.have.length(2);
  });

  it('does not repeat a request if a new connection is closed', async () => {
    await using server = await RawServer.start((socket) => socket.on('data', () => socket.destroy()));
    await using system = setup();
    expect(await system.failure(server.port)).to.match(/^the kubelet closed the connection|^ECONNRESET$/);
    expect(server.sockets).to.have.length(1);
  });

  for (const [status, body, message] of [
    ['403 Forbidden', 'Forbidden (user=a)\n', 'HTTP status 403: Forbidden (user=a)'],
    ['500 Internal Server Error', '', 'HTTP status 500'],
    ['404 Not Found', 'x'.repeat(5000), `HTTP status 404: ${'x'.repeat(200)}`],
  ] as const) {
    it(`rejects status ${status} with the text of the response`, async () => {
      await using server = await RawServer.start(responding(httpResponse(body, { status })));
      await using system = setup();
      expect(await system.failure(server.port)).to.equal(message);
    });
  }

  it('does not follow redirects', async () => {
    await using elsewhere = await RawServer.start(responding(httpResponse('secret')));
    const headers = `Location: http://127.0.0.1:${elsewhere.port}/\r\n`;
    await using server = await RawServer.start(
      responding(httpResponse('', { status: '302 Found', headers })),
    );
    await using system = setup({ authorization: 'Bearer abc' });
    expect(await system.failure(server.port)).to.equal('HTTP status 302');
    expect(elsewhere.sockets).to.have.length(0);
  });

  it('times out on an incomplete response, and closes the connection', async () => {
    await using server = await RawServer.start(responding('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{'));
    await using system = setup();
    const failed = system.failure(server.port);
    while (server.sockets[0]?.bytesWritten === 0 || server.sockets.length === 0)
      await system.clock.advance(0);
    for (let tick = 0; tick < 20; tick++) await system.clock.advance(0);
    await system.clock.advance(10_000);
    expect(await failed).to.equal('no complete response within 10s');
    await until(system.clock, () => server.openSockets.length === 0);
    expect(system.clock.sleeperCount).to.equal(0);
  });

  it('limits connection and response together', async () => {
    await using server = await RawServer.start(responding('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{'));
    await using system = setup({ dialDelayMs: 2500 });
    const failed = system.failure(server.port);
    await until(system.clock, () => system.clock.sleeperCount === 2);
    await system.clock.advance(2500);
    await until(system.clock, () => (server.sockets[0]?.bytesWritten ?? 0) > 0);
    await system.clock.advance(7499);
    expect(system.clock.sleeperCount).to.equal(1);
    await system.clock.advance(1);
    expect(await failed).to.equal('no complete response within 10s');
  });

  it('does not count the wait for a handshake permit', async () => {
    await using server = await RawServer.start(responding('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{'));
    await using system = setup({ permitDelayMs: 60_000 });
    const failed = system.failure(server.port);
    await until(system.clock, () => system.clock.sleeperCount === 1);
    await system.clock.advance(60_000);
    await until(system.clock, () => (server.sockets[0]?.bytesWritten ?? 0) > 0);
    await system.clock.advance(9_999);
    expect(system.clock.sleeperCount).to.equal(1);
    await system.clock.advance(1);
    expect(await failed).to.equal('no complete response within 10s');
  });

  it('does not count the wait for credentials', async () => {
    await using server = await RawServer.start(responding(httpResponse('{}')));
    await using system = setup({ authorizationDelayMs: 10_000 });
    const result = system.failure(server.port);
    await until(system.clock, () => system.clock.sleeperCount === 1);
    await system.clock.advance(10_000);
    expect(await result).to.equal('responded {}');
    expect(system.clock.sleeperCount).to.equal(0);
  });

  it('stops waiting for credentials when the signal aborts', async () => {
    await using system = setup({ authorizationDelayMs: 60_000 });
    const leaving = new AbortController();
    const target = { nodeName: 'a', host: '127.0.0.1', port: 1 };
    const pending = system.client.get(target, '/path', { signal: leaving.signal, read: String });
    leaving.abort(new Error('the program ends'));
    const failure = await pending.catch((error: Error) => error);
    expect(failure).to.have.property('message', 'the program ends');
    await system.clock.advance(60_000);
  });

  it('describes a response that is not HTTP', async () => {
    await using server = await RawServer.start(responding('SSH-2.0-OpenSSH_9.2\r\n'));
    await using system = setup();
    expect(await system.failure(server.port)).to.equal('it does not speak HTTP');
  });

  for (const [what, lineOf] of [
    ['spaces before a carriage return', (length: number) => `a:${' '.repeat(length)}\rx`],
    ['spaces inside of a value', (length: number) => `a: x${' '.repeat(length)}y`],
    ['colons', (length: number) => ':'.repeat(length)],
    ['headers without values', (length: number) => 'a:\r\n'.repeat(length / 4).trim()],
  ] as const) {
    it(`handles headers of ${what} in linear time`, async () => {
      const read = async (line: string) => {
        const response = `HTTP/1.1 200 OK\r\n${line}\r\nContent-Length: 1\r\n\r\n1`;
        await using server = await RawServer.start(responding(response));
        await using system = setup();
        return await system.failure(server.port);
      };
      const [short, long, parts] = [lineOf(1_800), lineOf(8 * 1_800), 8]; // few, since each has its own server
      expect(await read(long)).to.match(/^responded 1$|headers|HTTP/);
      const { isLinear, ratio } = await growthOf(read, { short, long, parts });
      expect(isLinear, `one costs ${ratio.toFixed(1)} times as much as eight of an eighth`).to.equal(true);
    });
  }

  it('retains only the bytes of a response in tiny chunks', async () => {
    const [chunk, chunks] = [`1e\r\n${'x'.repeat(30)}\r\n`, 34_000];
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
    await using server = await RawServer.start(responding(head + chunk.repeat(chunks)));
    await using system = setup();
    const before = await memoryInUse();
    const failed = system.failure(server.port);
    await until(system.clock, () => server.sockets[0]?.bytesWritten === head.length + chunk.length * chunks);
    await until(system.clock, () => server.sockets[0]?.writableLength === 0);
    for (let tick = 0; tick < 20; tick++) await system.clock.advance(0);
    expect(((await memoryInUse()) - before) / 2 ** 20).to.be.below(3); // one view per chunk would take at least 4 MiB
    await system.clock.advance(10_000);
    expect(await failed).to.equal('no complete response within 10s');
  });

  for (const [what, head, piece] of [
    ['a status line', 'HTTP/1.1 200 ', 'a'],
    ['line feeds before it', '', '\r\n'],
    ['provisional responses', '', 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n'],
    ['an extension of a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;', 'a'],
    ['chunks of one byte', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\nx\r\n'],
  ] as const) {
    it(`limits the bytes received of endless ${what}`, async () => {
      const pieces = Buffer.from(piece.repeat(65_536 / piece.length));
      await using server = await RawServer.start((socket) => {
        const flood = () => {
          while (!socket.destroyed && socket.write(pieces));
          socket.once('drain', flood);
        };
        socket.once('data', () => {
          socket.write(head);
          flood();
        });
      });
      await using system = setup();
      expect(await system.failure(server.port)).to.match(
        /^the transfer overhead of the response is too large$|^too many provisional responses$/,
      );
      await until(system.clock, () => server.openSockets.length === 0);
      expect(server.sockets[0]?.bytesWritten).to.be.below(12 * MAX_RESPONSE_BYTES); // plus socket buffers
    });
  }

  it('closes a connection with unexpected data after a response', async () => {
    const behind = httpResponse('for another request');
    await using server = await RawServer.start(responding(httpResponse('mine') + behind));
    await using system = setup();
    expect(await system.get(server.port)).to.equal('mine');
    await until(system.clock, () => server.openSockets.length === 0);
    expect(await system.get(server.port)).to.equal('mine');
    expect(server.sockets).to.have.length(2);
  });

  it('halves the number of connections when file descriptors run out', async () => {
    const servers = await Promise.all(
      Array.from({ length: 6 }, () => RawServer.start(responding(httpResponse('1')))),
    );
    await using stack = new AsyncDisposableStack();
    for (const server of servers) stack.use(server);
    const system = stack.use(setup());
    for (const { port } of servers.slice(0, 4)) await system.get(port);
    system.dialer.dial = () => Promise.reject(Object.assign(new Error('EMFILE'), { code: 'EMFILE' }));
    expect(await system.failure(servers[4]?.port ?? 0)).to.equal('EMFILE');
    Reflect.deleteProperty(system.dialer, 'dial');
    for (const { port } of servers) expect(await system.get(port)).to.equal('1');
    await until(system.clock, () => servers.flatMap(({ openSockets }) => openSockets).length === 4);
    for (const { port } of servers) expect(await system.get(port)).to.equal('1');
  });

  it('stops reading an endless error response', async () => {
    const head = 'HTTP/1.1 500 Internal Server Error\r\nContent-Length: 9999999\r\n\r\n';
    await using server = await RawServer.start(responding(`${head}${'no '.repeat(10_000)}`));
    await using system = setup();
    expect(await system.failure(server.port)).to.match(/^HTTP status 500: no no /);
    await until(system.clock, () => server.openSockets.length === 0);
    expect(system.clock.sleeperCount).to.equal(0);
  });

  it('rejects a compressed response', async () => {
    const headers = 'Content-Encoding: gzip\r\n';
    await using server = await RawServer.start(responding(httpResponse('\x1f\x8b', { headers })));
    await using system = setup();
    expect(await system.failure(server.port)).to.match(/^unsupported content encoding: gzip$/);
  });

  for (const [what, head] of [
    ['announces to be', `Content-Length: ${MAX_RESPONSE_BYTES + 1}\r\n`],
    ['turns out to be', 'Connection: close\r\n'],
  ] as const) {
    it(`rejects a response that ${what} longer than the limit`, async () => {
      const body = 'x'.repeat(MAX_RESPONSE_BYTES + 1);
      await using server = await RawServer.start(responding(`HTTP/1.1 200 OK\r\n${head}\r\n${body}`));
      await using system = setup();
      expect(await system.failure(server.port)).to.equal(
        'the response is larger than 1Mi (--kubelet-max-response-bytes)',
      );
      await until(system.clock, () => server.openSockets.length === 0);
    });
  }

  it('accepts a response of exactly the maximum length', async () => {
    const body = 'x'.repeat(MAX_RESPONSE_BYTES);
    await using server = await RawServer.start(responding(httpResponse(body)));
    await using system = setup();
    expect(await system.get(server.port)).to.equal(body);
  });

  it('closes connections to other addresses', async () => {
    await using one = await RawServer.start(responding(httpResponse('1')));
    await using two = await RawServer.start(responding(httpResponse('2')));
    await using system = setup();
    await Promise.all([system.get(one.port), system.get(two.port)]);
    await system.client.retain(new Set([`127.0.0.1:${two.port}`]));
    await until(system.clock, () => one.openSockets.length === 0);
    expect(await system.get(two.port)).to.equal('2');
    expect(two.sockets).to.have.length(1);
  });
});
