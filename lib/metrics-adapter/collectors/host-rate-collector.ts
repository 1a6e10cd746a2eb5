import { z } from 'zod';
import type { PrometheusServer } from '#lib/sources/http-apis/prometheus-server.ts';
import { list, type MetricCollector, numberIn, readSettings } from './metric-collector.ts';

interface HostRateCollectorOptions {
  readonly server: PrometheusServer;
  /** The series that counts requests by host. */
  readonly series: string;
}

const settings = z.object({
  hostnames: list(/^[a-zA-Z0-9.-]{1,253}$/, 'host names separated by commas').describe(
    'Comma-separated host names.',
  ),
  weight: numberIn(0, 100).optional().describe('Percentage of the requests to count; by default 100.'),
});

/** Requests per second to hosts, from Prometheus, for an External metric. */
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

/** Host names; `*` is allowed as the first label only. */
const HOST = /^(?:\*\.)?[a-zA-Z0-9_-][a-zA-Z0-9_.-]{0,252}$/;

function isHost(text: string): boolean {
  return HOST.test(text);
}

/**
 * PromQL for the requests per second to hosts, from a series whose hosts have underscores instead of dots.
 *
 * @param weight fraction of the requests that counts
 * @throws for an invalid host
 */
export function hostQuery(
  series: string,
  { hosts, weight }: { readonly hosts: readonly string[]; readonly weight: number },
): string {
  const wrong = hosts.find((host) => !isHost(host));
  if (wrong !== undefined) throw new Error(`${JSON.stringify(wrong.slice(0, 253))} is not a host name`);
  const pattern = hosts.map((host) => host.replaceAll('.', '_').replaceAll('*', '\\\\*')).join('|');
  return `scalar(sum(rate(${series}{host=~"${pattern}"}[1m])) * ${weight.toFixed(4)})`;
}
