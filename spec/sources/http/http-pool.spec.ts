import { expect } from 'chai';
import { Client, type Dispatcher } from 'undici';
import { HttpPool } from '#lib/sources/http/http-pool.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { eventually } from '#spec/support/eventually.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';

const CLOSED = 'the server closed the connection before its response was complete: other side closed';

describe('HttpPool', () => {
  const never = new AbortController().signal;
  const poolOf = () => new HttpPool((origin) => new Client(origin, { keepAliveTimeout: 60_000 }));

  const request = async (pool: HttpPool, { origin }: URL, signal = never) =>
    await pool.use(origin, signal, async (connection: Dispatcher) => {
      const { body } = await connection.request({ origin, path: '/', method: 'GET', signal });
      return await body.text();
    });

  it('reuses a connection for the next request, and opens at most 32 to an origin', async () => {
    const waiting: (() => void)[] = [];
    await using server = await LoopbackServer.start(async (_, response) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      response.end('a');
    });
    const pool = poolOf();
    const first = request(pool, server.url);
    await eventually(() => waiting.length === 1);
    waiting.pop()?.();
    expect(await first).to.equal('a');
    const many = Promise.all(Array.from({ length: 40 }, () => request(pool, server.url)));
    await eventually(() => waiting.length === 32);
    expect(pool.connectionCount).to.equal(32);
    expect(await server.connectionCount()).to.equal(32);
    const releasing = setInterval(() => waiting.pop()?.(), 1);
    expect(await many).to.have.length(40);
    clearInterval(releasing);
    expect(pool.connectionCount).to.equal(32);
    await pool.destroy();
    expect(await errorOf(request(pool, server.url))).to.equal('the client is closed');
  });

  it('retries once over a new connection when a pooled one was closed', async () => {
    let losing = false;
    await using server = await LoopbackServer.start((_, response) => {
      if (losing) response.socket?.destroy();
      else response.end('a');
      losing = false;
    });
    const pool = poolOf();
    expect(await request(pool, server.url)).to.equal('a');
    losing = true;
    expect(await request(pool, server.url)).to.equal('a');
    expect(server.requests).to.have.length(3);
    await pool.close();
    losing = true;
    expect(await errorOf(request(pool, server.url))).to.equal(CLOSED); // it was a new connection
    expect(server.requests).to.have.length(4);
  });

  it('reports that the server closed a connection, before its response, within it, or twice', async () => {
    let sent = 'a';
    await using server = await LoopbackServer.start((_, response) => {
      if (sent === 'a') {
        response.end('a');
        return;
      }
      if (sent !== '') response.writeHead(200, { 'content-length': 1000 }).write(sent);
      setImmediate(() => response.socket?.destroy());
    });
    for (const beginning of ['', 'half of it']) {
      const pool = poolOf();
      sent = beginning;
      expect(await errorOf(request(pool, server.url)), beginning).to.equal(CLOSED);
      sent = 'a';
      expect(await request(pool, server.url)).to.equal('a');
      sent = beginning;
      expect(await errorOf(request(pool, server.url)), `${beginning}, kept`).to.equal(CLOSED);
      await pool.close();
    }
  });

  it('drops connections that the other end closes, and those that a request has failed on', async () => {
    const server = await LoopbackServer.start((_, response) => void response.end('a'));
    const { url } = server;
    const pool = poolOf();
    await request(pool, url);
    expect(pool.connectionCount).to.equal(1);
    await server[Symbol.asyncDispose]();
    await eventually(() => pool.connectionCount === 0);
    expect(await errorOf(request(pool, url))).to.include('connection refused');
    expect(pool.connectionCount).to.equal(0);
  });

  it('discards a connection that was closed while in use', async () => {
    await using server = await LoopbackServer.start((_, response) => {
      response.setHeader('connection', 'close').end('a');
    });
    const pool = poolOf();
    const retained = Promise.withResolvers<void>();
    const lost = Promise.withResolvers<void>();
    const lent = pool.use(server.url.origin, never, async (connection: Dispatcher) => {
      connection.on('disconnect', () => lost.resolve());
      const { body } = await connection.request({ origin: server.url.origin, path: '/', method: 'GET' });
      const text = await body.text();
      await retained.promise;
      return text;
    });
    await lost.promise;
    retained.resolve();
    expect(await lent).to.equal('a');
    expect(pool.connectionCount).to.equal(0);
  });

  it('waits for requests in progress when it closes, and closes all connections', async () => {
    const { promise: mayEnd, resolve } = Promise.withResolvers<void>();
    await using server = await LoopbackServer.start(async (_, response) => {
      await mayEnd;
      response.end('a');
    });
    const pool = poolOf();
    const requested = Array.from({ length: 33 }, () => request(pool, server.url)); // the last waits for a permit
    await eventually(() => server.requests.length === 32);
    let isClosed = false;
    const closing = pool.close().then(() => {
      isClosed = true;
    });
    await new Promise((pass) => setImmediate(pass));
    expect(isClosed).to.equal(false);
    resolve();
    expect(await Promise.all(requested)).to.have.length(33);
    await closing;
    expect(pool.connectionCount).to.equal(0);
  });

  it('lets a caller abort while it waits for a connection', async () => {
    await using server = await LoopbackServer.start(() => {});
    const pool = poolOf();
    const hanging = Array.from({ length: 32 }, () => errorOf(request(pool, server.url)));
    await eventually(() => server.requests.length === 32);
    const late = new AbortController();
    const waiting = errorOf(request(pool, server.url, late.signal));
    late.abort(new Error('too late'));
    expect(await waiting).to.equal('too late');
    await pool.destroy();
    await Promise.all(hanging);
  });
});
