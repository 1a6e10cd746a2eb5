import { expect } from 'chai';
import { AllowedHosts } from '#lib/sources/http/allowed-hosts.ts';
import { HttpClient } from '#lib/sources/http/http-client.ts';
import { PrometheusServer } from '#lib/sources/prometheus/prometheus-server.ts';
import { describeError } from '#lib/telemetry/logger.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { findPrometheus, type RealPrometheus, startPrometheus } from '#spec/support/real-prometheus.ts';

const signal = new AbortController().signal;

describe('PrometheusServer, with a real Prometheus', () => {
  let stack: AsyncDisposableStack;
  let prometheus: RealPrometheus;
  let server: PrometheusServer;

  before(async function () {
    const binary = await findPrometheus();
    if (binary === undefined) {
      console.log('      SKIPPED: there is no prometheus on this machine');
      return this.skip();
    }
    stack = new AsyncDisposableStack();
    const exporter = stack.use(
      await LoopbackServer.start((_, response) => {
        response.setHeader('content-type', 'text/plain');
        response.end('queue_depth{queue="a"} 3\nqueue_depth{queue="b"} 4.5\nbroken NaN\n');
      }),
    );
    prometheus = stack.use(await startPrometheus(binary, [exporter.url.host]));
    const http = stack.use(
      new HttpClient({
        clock: new ManualClock(),
        allowedHosts: new AllowedHosts(['127.0.0.1']),
        userAgent: 'spec',
      }),
    );
    server = new PrometheusServer({ http, url: prometheus.url });
  });
  after(() => stack?.disposeAsync());

  it('gives what an exporter exposes', async () => {
    const query = server.query('sort(queue_depth)');
    let samples = await query.ask(signal).catch(() => []);
    while (samples.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      samples = await query.ask(signal).catch(() => []);
    }
    expect(samples.map(({ value, labels }) => [labels.queue, value])).to.deep.equal([
      ['a', 3],
      ['b', 4.5],
    ]);
    expect(await valuesOf('scalar(sum(queue_depth))')).to.deep.equal([7.5]);
    expect(await valuesOf('vector(1)')).to.deep.equal([1]);
  });

  it('has no result where there is none', async () => {
    expect(await errorOf('absent_series')).to.match(/the query has no result$/);
    expect(await errorOf('vector(1) / 0')).to.match(/"\+Inf", which is no result$/);
    expect(await errorOf('scalar(absent_series)')).to.match(/"NaN", which is no result$/);
    expect(await errorOf('queue_depth[5m]')).to.match(/gives a matrix/);
    expect(await errorOf('"text"')).to.match(/gives a string/);
  });

  it('is told what is wrong with a query', async () => {
    expect(await errorOf('sum(')).to.match(/status 400: .*parse error: .*unclosed left parenthesis/);
  });

  async function valuesOf(text: string): Promise<readonly number[]> {
    return (await server.query(text).ask(signal)).map(({ value }) => value);
  }

  async function errorOf(text: string): Promise<string> {
    return await server
      .query(text)
      .ask(signal)
      .then(
        () => 'no error',
        (error: unknown) => describeError(error),
      );
  }
});
