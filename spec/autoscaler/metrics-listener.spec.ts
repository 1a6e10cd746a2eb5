import { expect } from 'chai';
import { Counter, Registry } from 'prom-client';
import { listenForMetrics, parseListenAddress } from '#lib/autoscaler/metrics-listener.ts';

describe('parseListenAddress', () => {
  it('reads what Go listens at', () => {
    expect(parseListenAddress(':7979')).to.deep.equal({ host: undefined, port: 7979 });
    expect(parseListenAddress('127.0.0.1:0')).to.deep.equal({ host: '127.0.0.1', port: 0 });
    expect(parseListenAddress('localhost:80')).to.deep.equal({ host: 'localhost', port: 80 });
    expect(parseListenAddress('[::1]:80')).to.deep.equal({ host: '::1', port: 80 });
  });

  it('takes nothing else', () => {
    for (const text of ['', '7979', ':', ':x', ':65536', ':-1', '::1:80', 'a b:1', 'http://a:1', 'a:1\n'])
      expect(parseListenAddress(text), text).to.equal(undefined);
  });
});

describe('listenForMetrics', () => {
  it('serves the series at /metrics, and nothing else', async () => {
    const registry = new Registry();
    new Counter({ name: 'things', help: 'Things.', registers: [registry] }).inc(3);
    await using server = await listenForMetrics({ host: '127.0.0.1', port: 0 }, registry);
    const ask = (path: string, method = 'GET') => fetch(`http://127.0.0.1:${server.port}${path}`, { method });
    const response = await ask('/metrics?x=y');
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.match(/^text\/plain/);
    expect(await response.text()).to.include('\nthings 3\n');
    expect((await ask('/')).status).to.equal(404);
    expect((await ask('/metrics', 'POST')).status).to.equal(405);
  });
});
