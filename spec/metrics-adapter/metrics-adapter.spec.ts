import { expect } from 'chai';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { MetricStore } from '#lib/collection/metric-store.ts';
import { PollLimits } from '#lib/collection/poll-limits.ts';
import { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { MetricCollector } from '#lib/metrics-adapter/collectors/metric-collector.ts';
import { metricsAdapter } from '#lib/metrics-adapter/metrics-adapter.ts';
import { allCollectors } from '#spec/support/all-collectors.ts';
import { eventually } from '#spec/support/eventually.ts';
import { startListingServer } from '#spec/support/listing-server.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { externalMetric, hpaObject } from '#spec/support/scaled-hpas.ts';

const HPAS = {
  ...{ group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' },
  ...{ plural: 'horizontalpodautoscalers', namespaced: true },
};

const mapper = { findExact: async () => HPAS } as never;

const INTERVALS = { defaultIntervalMs: 60_000, metricsTtlMs: 900_000, relistMs: 60_000 };

describe('metricsAdapter, with a Prometheus that refuses a query', () => {
  it('serves the cause without credentials, and records one event on the HPA each time it begins', async () => {
    await using stack = new AsyncDisposableStack();
    let isRefusing = true;
    const prometheus = stack.use(
      await LoopbackServer.start(({ headers }, response) => {
        const login = Buffer.from(headers.authorization?.split(' ')[1] ?? '', 'base64').toString();
        response.statusCode = isRefusing ? 422 : 200;
        const result = [{ metric: {}, value: [1_700_000_000, '7'] }];
        response.end(
          JSON.stringify(
            isRefusing
              ? { status: 'error', errorType: 'execution', error: `too many samples for ${login}\u001b[2J` }
              : { status: 'success', data: { resultType: 'vector', result } },
          ),
        );
      }),
    );
    const server = new URL(prometheus.url);
    server.username = 'ann';
    server.password = 'hidden-password';
    const annotations = {
      'metric-config.external.rate.prometheus/query': 'sum(rate(requests[1m]))',
      'metric-config.external.rate.prometheus/prometheus-server': server.href,
    };
    const hpa = hpaObject({ annotations, metrics: [externalMetric('rate', { type: 'prometheus' })] });
    const served = stack.use(
      await startListingServer(JSON.stringify({ metadata: { resourceVersion: '5' }, items: [hpa] })),
    );
    const informers = stack.use(new SharedInformers({ ...served, mapper }));
    const [events, store] = [[] as string[], new MetricStore()];
    const adapter = stack.use(
      metricsAdapter(
        { servesCustom: true, servesExternal: true, ignoresUnknown: false, ...INTERVALS },
        {
          ...{ client: served.client, clock: served.clock, logger: served.logger },
          pollLimits: new PollLimits(served.clock),
          ...{ mapper, informers },
          events: { record: ({ reason, message }) => void events.push(`${reason} ${message}`) },
          collectors: allCollectors({ clock: served.clock, stack, url: prometheus.url }),
          ...{ registry: new Registry(), store, pods: { live: () => undefined }, isReporting: () => true },
        },
      ),
    );
    const value = () => {
      const selector = parseLabelSelector('type=prometheus');
      return store.values('default', { metric: 'rate', selector })?.map(({ value: read }) => read);
    };
    const passes = async (isSo: () => boolean) =>
      await eventually(async () => {
        await served.clock.advance(30_000);
        return isSo();
      });
    adapter.start();
    await passes(() => events.length > 0);
    expect(value).to.throw(/^Cannot collect External\/rate: .*too many samples for /);
    expect(events[0]).to.match(/^FailedCollectMetric Cannot collect External\/rate: .*too many samples for /);
    for (const text of [errorMessageOf(value), ...events])
      expect(text).to.not.match(/hidden-password|ann:|\p{Cc}/u);
    const requestCount = prometheus.requests.length;
    await passes(() => prometheus.requests.length > requestCount + 2);
    expect(events).to.have.length(1);
    isRefusing = false;
    await passes(() => errorMessageOf(value) === '');
    expect(value()).to.deep.equal(['7']);
    isRefusing = true;
    await passes(() => events.length > 1);
    expect(value()).to.deep.equal(['7']); // it is still fresh
    expect(events).to.have.length(2);
  });
});

function errorMessageOf(read: () => unknown): string {
  try {
    read();
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('metricsAdapter', () => {
  for (const isReporting of [true, false])
    it(`logs a metric that cannot be collected, and ${isReporting ? 'records an event, as the leader does' : 'leaves the event to the leader'}`, async () => {
      const hpa = hpaObject({ metrics: [externalMetric('bad', { type: 'strict' })] });
      await using served = await startListingServer(
        JSON.stringify({ metadata: { resourceVersion: '5' }, items: [hpa] }),
      );
      const events: string[] = [];
      const strict: MetricCollector = {
        ...{ name: 'strict', legacyMetrics: [], types: ['External'], settings: z.object({}) },
        queryOf() {
          throw new Error('no query');
        },
      };
      await using informers = new SharedInformers({ ...served, mapper });
      await using adapter = metricsAdapter(
        { servesCustom: true, servesExternal: true, ignoresUnknown: false, ...INTERVALS },
        {
          ...{ client: served.client, clock: served.clock, logger: served.logger },
          pollLimits: new PollLimits(served.clock),
          ...{ mapper, informers },
          events: { record: ({ reason, message }) => void events.push(`${reason} ${message}`) },
          ...{ registry: new Registry(), collectors: [strict], store: new MetricStore() },
          ...{ pods: { live: () => undefined }, isReporting: () => isReporting },
        },
      );
      adapter.start();
      await eventually(() => served.logger.lines.length > 0);
      expect(served.logger.lines.map(({ message }) => message)).to.deep.equal([
        'Cannot collect metric of HPA',
      ]);
      expect(events).to.deep.equal(
        isReporting ? ['CreateNewMetricsCollector Failed to create new metrics collector: no query'] : [],
      );
    });
});
