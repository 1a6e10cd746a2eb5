import { expect } from 'chai';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { MetricStore } from '#lib/collection/metric-store.ts';
import type { MetricCollector } from '#lib/metrics-adapter/collectors/metric-collector.ts';
import { metricsAdapter } from '#lib/metrics-adapter/metrics-adapter.ts';
import { eventually } from '#spec/support/eventually.ts';
import { startListingServer } from '#spec/support/listing-server.ts';
import { externalMetric, hpaObject } from '#spec/support/scaled-hpas.ts';

const HPAS = {
  ...{ group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' },
  ...{ plural: 'horizontalpodautoscalers', namespaced: true },
};

describe('metricsAdapter', () => {
  for (const isLeader of [true, false])
    it(`logs a metric that cannot be collected, and ${isLeader ? 'tells an event of it, as the leader does' : 'leaves the event of it to the leader'}`, async () => {
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
      const intervals = { defaultIntervalMs: 60_000, metricsTtlMs: 900_000, relistMs: 60_000 };
      await using adapter = metricsAdapter(
        { servesCustom: true, servesExternal: true, passesOverUnknown: false, ...intervals },
        {
          ...{ client: served.client, clock: served.clock, logger: served.logger },
          mapper: { findExact: async () => HPAS } as never,
          events: { record: ({ reason, message }) => void events.push(`${reason} ${message}`) },
          ...{ registry: new Registry(), collectors: [strict], store: new MetricStore() },
          ...{ pods: { live: () => undefined }, isLeader: () => isLeader },
        },
      );
      adapter.start();
      await eventually(() => served.logger.lines.length > 0);
      expect(served.logger.lines.map(({ message }) => message)).to.deep.equal([
        'Cannot collect a metric of an HPA',
      ]);
      expect(events).to.deep.equal(
        isLeader ? ['CreateNewMetricsCollector Failed to create new metrics collector: no query'] : [],
      );
    });
});
