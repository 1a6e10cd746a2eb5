import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { Counter, Gauge, Registry } from 'prom-client';
import { listenForMetrics } from '#lib/metrics-adapter/metrics-listener.ts';
import { eventually } from '#spec/support/eventually.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('listenForMetrics', () => {
  it('serves the series at /metrics, and nothing else', async () => {
    const registry = new Registry();
    new Counter({ name: 'things', help: 'Things.', registers: [registry] }).inc(3);
    await using server = await listenForMetrics(
      { host: '127.0.0.1', port: 0 },
      { registry, clock: new ManualClock() },
    );
    const request = (path: string, method = 'GET') =>
      fetch(`http://127.0.0.1:${server.port}${path}`, { method });
    const response = await request('/metrics?x=y');
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.match(/^text\/plain/);
    expect(await response.text()).to.include('\nthings 3\n');
    expect((await request('/')).status).to.equal(404);
    expect((await request('/metrics', 'POST')).status).to.equal(405);
  });

  const flood = async (port: number, requests: number) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.pause(); // reads nothing
    await once(socket, 'connect');
    socket.write('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(requests));
    return socket;
  };
  const longRegistry = () => {
    const registry = new Registry();
    new Gauge({ name: 'things', help: 'x'.repeat(16 * 1024 * 1024), registers: [registry] }); // more than socket buffers take
    return registry;
  };

  it('formats the series once for concurrent requests', async () => {
    const registry = new Registry();
    const written = Promise.withResolvers<string>();
    let count = 0;
    registry.metrics = () => {
      count++;
      return written.promise;
    };
    const clock = new ManualClock();
    await using server = await listenForMetrics({ host: '127.0.0.1', port: 0 }, { registry, clock });
    const pending = Array.from({ length: 5 }, () => fetch(`http://127.0.0.1:${server.port}/metrics`));
    await eventually(() => clock.sleeperCount === 5); // each has a deadline
    written.resolve('things 3\n');
    for (const response of await Promise.all(pending)) expect(await response.text()).to.equal('things 3\n');
    expect(count).to.equal(1);
  });

  it('cuts off a client that sends more than a hundred requests without reading', async () => {
    await using server = await listenForMetrics(
      { host: '127.0.0.1', port: 0 },
      { registry: new Registry(), clock: new ManualClock() },
    );
    const socket = await flood(server.port, 101);
    socket.resume();
    await once(socket, 'close');
    const other = await fetch(`http://127.0.0.1:${server.port}/`);
    expect(other.status).to.equal(404);
  });

  it('admits another address while one address has all 64 connections', async () => {
    await using server = await listenForMetrics(
      { host: '127.0.0.1', port: 0 },
      { registry: new Registry(), clock: new ManualClock() },
    );
    const open = async (localAddress: string) => {
      const socket = connect({ port: server.port, host: '127.0.0.1', localAddress }).on('error', () => {});
      await once(socket, 'connect');
      socket.write('GET /metrics HTTP/1.1\r\n'); // incomplete headers
      return socket;
    };
    const holding = await Promise.all(Array.from({ length: 64 }, () => open('127.0.0.1')));
    const refused = await open('127.0.0.1');
    await eventually(() => refused.closed);
    const other = await open('127.0.0.2');
    other.end('Host: a\r\nConnection: close\r\n\r\n').setEncoding('utf8');
    expect((await other.toArray()).join('')).to.match(/^HTTP\/1.1 200 OK\r\n/);
    await eventually(() => holding.filter((socket) => socket.closed).length === 1);
    for (const socket of holding) socket.destroy();
  });

  it('cuts off a client that does not read the series within 10 s', async () => {
    const clock = new ManualClock();
    await using server = await listenForMetrics(
      { host: '127.0.0.1', port: 0 },
      { registry: longRegistry(), clock },
    );
    const socket = await flood(server.port, 1);
    await eventually(() => clock.sleeperCount === 1);
    await clock.advance(10_000);
    socket.resume();
    await once(socket, 'close');
  });
});
