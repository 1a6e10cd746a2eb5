import { table } from '../table.ts';
import type { MetricsAdapterResult } from './measure-metrics-adapter.ts';

/** Formats a result as Markdown. */
export function reportMetricsAdapter(result: MetricsAdapterResult): string {
  const { scenario, requested } = result;
  const intervals = scenario.collectMs / (scenario.intervalSeconds * 1000);
  const each = (count: number) => (count / intervals).toFixed(0);
  const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  const queries = 2 * scenario.hpas;
  return [
    `## metrics-adapter: ${scenario.hpas} HPAs of two External metrics and one of ${scenario.podsPerHpa} pods, every ${scenario.intervalSeconds} s`,
    '',
    `- start to all metrics: ${(result.startToServedMs / 1000).toFixed(1)} s`,
    `- CPU while nobody asks: ${result.millicores.toFixed(1)} millicores`,
    `- resident: ${mebibytes(result.residentBytes)}, at most ${mebibytes(result.peakResidentBytes)}`,
    `- an interval: ${each(requested.queries)} requests of Prometheus for ${queries} External metrics (${requested.distinctQueries} queries differ), ${each(requested.pods)} of pods`,
    '',
    ...table([
      ['requests of 4 clients', 'requests/s', 'half ms', '99 % ms', 'all ms', 'millicores'],
      ...result.requests.map((one) => [
        one.what,
        one.requestsPerSecond.toFixed(0),
        one.medianMs.toFixed(2),
        one.p99Ms.toFixed(2),
        one.maxMs.toFixed(2),
        one.millicores.toFixed(0),
      ]),
    ]),
  ].join('\n');
}
