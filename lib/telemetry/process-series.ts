import { collectDefaultMetrics, type Registry } from 'prom-client';

/** Gauges whose names end as only a counter's may, which Prometheus' linter refuses; others tell the same by type. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
] as const;

/** Adds the series about the process: CPU, memory, event loop, garbage collection. */
export function addProcessSeries(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
}
