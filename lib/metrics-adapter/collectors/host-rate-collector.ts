import { z } from 'zod';
import type { PrometheusServer } from '#lib/sources/prometheus/prometheus-server.ts';
import { hostQuery } from './host-query.ts';
import { list, type MetricCollector, numberIn, readSettings } from './metric-collector.ts';

/** What the collector of hosts' requests works with. */
export interface HostRateCollectorOptions {
  readonly server: PrometheusServer;
  /** The series that counts requests by host. */
  readonly series: string;
}

const settings = z.object({
  hostnames: list(/^[a-zA-Z0-9.-]{1,253}$/, 'host names separated by commas').describe(
    'Host names, separated by commas.',
  ),
  weight: numberIn(0, 100)
    .optional()
    .describe('Which share of the requests counts, in per cent; 100 unless given.'),
});

/** Requests a second to host names, as Prometheus knows them, for an External metric. */
export function hostRateCollector({ server, series }: HostRateCollectorOptions): MetricCollector {
  return {
    name: 'requests-per-second',
    legacyMetrics: ['requests-per-second'],
    types: ['External'],
    settings,
    queryOf(request) {
      const { hostnames, weight = 100 } = readSettings(settings, request).values;
      return server.query(hostQuery(series, { hosts: hostnames, weight: weight / 100 }));
    },
  };
}
