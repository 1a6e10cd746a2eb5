import { expect } from 'chai';
import { Registry } from 'prom-client';
import { listenForMetrics } from '#lib/metrics-adapter/metrics-listener.ts';
import { metricsAdapterSeries } from '#lib/metrics-adapter/observability/metrics-adapter-series.ts';
import { HttpClient } from '#lib/sources/http/http-client.ts';
import { PrometheusServer } from '#lib/sources/http-apis/prometheus-server.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import type { Sample } from '#lib/sources/sample.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { requireProgram } from '#spec/support/machine-programs.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { type RealPrometheus, startPrometheus } from '#spec/support/real-prometheus.ts';

const signal = new AbortController().signal;

describe('PrometheusServer, with a real Prometheus', () => {
  let stack: AsyncDisposableStack;
  let prometheus: RealPrometheus;
  let server: PrometheusServer;

  before(async function () {
    const binary = await requireProgram(this, 'prometheus');
    stack = new AsyncDisposableStack();
    const exporter = stack.use(
      await LoopbackServer.start((_, response) => {
        response.setHeader('content-type', 'text/plain');
        response.end('queue_depth{queue="a"} 3\nqueue_depth{queue="b"} 4.5\nbroken NaN\n');
      }),
    );
    const registry = new Registry();
    const series = metricsAdapterSeries({ registry, nowMs: () => 0, collected: () => [] });
    series.recordQuery('queue.example', { durationMs: 20, error: undefined });
    const environment = { registry, clock: new ManualClock() };
    const own = stack.use(await listenForMetrics({ host: '127.0.0.1', port: 0 }, environment));
    prometheus = stack.use(await startPrometheus(binary, [exporter.url.host, `127.0.0.1:${own.port}`]));
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

  it('returns series of an exporter', async () => {
    const samples = await scraped('sort(queue_depth)');
    expect(samples.map(({ value, labels }) => [labels.queue, value])).to.deep.equal([
      ['a', 3],
      ['b', 4.5],
    ]);
    expect(await valuesOf('scalar(sum(queue_depth))')).to.deep.equal([7.5]);
    expect(await valuesOf('vector(1)')).to.deep.equal([1]);
  });

  it('returns series of our own /metrics', async () => {
    const samples = await scraped('autoscaler_source_requests_total{result="success"}');
    expect(samples.map(({ value, labels }) => [labels.source, value])).to.deep.equal([['queue.example', 1]]);
    expect(await valuesOf('kube_metrics_adapter_collections_success')).to.deep.equal([1]);
    const inTime = 'autoscaler_source_request_duration_seconds_bucket{le="0.025"}';
    expect(await valuesOf(inTime)).to.deep.equal([1]);
  });

  it('has no result where there is none', async () => {
    expect(await errorOf('absent_series')).to.match(/the query returned no result$/);
    expect(await errorOf('vector(1) / 0')).to.match(/"\+Inf", not a finite number$/);
    expect(await errorOf('scalar(absent_series)')).to.match(/"NaN", not a finite number$/);
    expect(await errorOf('queue_depth[5m]')).to.match(/returned a matrix/);
    expect(await errorOf('"text"')).to.match(/returned a string/);
  });

  it('reports the error of a query', async () => {
    expect(await errorOf('sum(')).to.match(/status 400: .*parse error: .*unclosed left parenthesis/);
  });

  /** The result of a query, once its target has been scraped. */
  async function scraped(text: string): Promise<readonly Sample[]> {
    const query = server.query(text);
    let samples: readonly Sample[] = [];
    while (samples.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      samples = await query.run(signal).catch(() => []);
    }
    return samples;
  }

  async function valuesOf(text: string): Promise<readonly number[]> {
    return (await server.query(text).run(signal)).map(({ value }) => value);
  }

  async function errorOf(text: string): Promise<string> {
    return await server
      .query(text)
      .run(signal)
      .then(
        () => 'no error',
        (error: unknown) => describeError(error),
      );
  }
});
