import { performance } from 'node:perf_hooks';
import { readProcessUsage } from '../process-usage.ts';
import { quantile } from '../quantile.ts';
import type { BenchmarkOptions } from '../run-scenario.ts';
import { AUTOSCALER_LOAD } from './autoscalers.ts';
import type { BackgroundLoad, LoadEnvironment } from './background-load.ts';
import { type Noticed, noticed } from './bystanders.ts';
import { DASHBOARD_LOAD } from './dashboards.ts';
import { TOP_LOAD } from './kubectl-top.ts';
import { NO_LOAD } from './nothing.ts';
import { CHURN_LOAD } from './pod-churn.ts';

/** Costs of a server during a load, including scraping. */
export interface BackgroundLoadResult {
  readonly name: string;
  readonly what: string;
  readonly cpuMillicores: number;
  readonly residentBytes: number;
  readonly requests: number;
  /** `null` if the load sends no requests. */
  readonly medianMs: number | null;
  readonly p99Ms: number | null;
  readonly noticed: Noticed;
}

/** All loads in the order of measurement: pod churn is last, because it changes the cluster. */
export const BACKGROUND_LOADS: readonly BackgroundLoad[] = [
  NO_LOAD,
  AUTOSCALER_LOAD,
  TOP_LOAD,
  DASHBOARD_LOAD,
  CHURN_LOAD,
];

/** Runs the selected loads one after the other, and measures each. */
export async function measureBackgroundLoads(
  place: LoadEnvironment,
  options: BenchmarkOptions,
): Promise<BackgroundLoadResult[]> {
  const { pid } = place.system.server;
  const results: BackgroundLoadResult[] = [];
  for (const { name, what, prepare } of options.loads) {
    options.onProgress(what);
    await using prepared = await prepare(place);
    const [before, startMs] = [readProcessUsage(pid), performance.now()];
    const [{ requests, latenciesMs }, others] = await noticed(place.system, options.loadMs, () =>
      prepared.run(options.loadMs),
    );
    const [after, endMs] = [readProcessUsage(pid), performance.now()];
    const ascending = latenciesMs.toSorted((a, b) => a - b);
    const latency = (share: number) => (ascending.length > 0 ? quantile(ascending, share) : null);
    results.push({
      name,
      what,
      cpuMillicores: ((after.cpuMs - before.cpuMs) / (endMs - startMs)) * 1000,
      residentBytes: after.residentBytes,
      requests,
      medianMs: latency(0.5),
      p99Ms: latency(0.99),
      noticed: others,
    });
  }
  return results;
}
