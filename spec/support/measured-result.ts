import type { ScenarioResult } from '#spec/benchmarks/run-scenario.ts';
import { REQUEST_KINDS, SCENARIOS } from '#spec/benchmarks/scenarios.ts';

const ROUND = {
  requests: 100,
  bodyBytes: 1234,
  medianMs: 2,
  p99Ms: 3,
  maxMs: 9,
  serverCpuMsPerRequest: 0.25,
};

const round = (perSecond: number) => ({ ...ROUND, requestsPerSecond: perSecond });

/** An invented result, for specs of code that reads results. */
export function measuredResult({
  cpuMillicores = 4.24,
  requestsPerSecond = [30, 10, 20],
  baselinePerSecond = [],
}: {
  readonly cpuMillicores?: number;
  readonly requestsPerSecond?: readonly number[];
  readonly baselinePerSecond?: readonly number[];
}): ScenarioResult {
  const [scenario] = SCENARIOS;
  const [kind] = REQUEST_KINDS;
  if (!scenario || !kind) throw new Error('Cannot make up a result: there is no scenario');
  const load = {
    noticed: { probeP99Ms: 3, scrapeP99Ms: null },
    residentBytes: 110 * 2 ** 20,
    requests: 1000,
  };
  return {
    scenario,
    startToReadyMs: 13_040,
    kubeletPsi: true,
    scraping: {
      cpuMillicores,
      residentBytes: 90 * 2 ** 20,
      beside: [],
      endpoints: [{ path: '/stats/summary', bytes: 66_000 }],
      connections: { open: 10, retained: 9 },
    },
    peakResidentBytes: 100 * 2 ** 20,
    requests: [
      {
        kind,
        format: 'protobuf',
        gzip: true,
        protocol: 'HTTP/2',
        rounds: requestsPerSecond.map(round),
        baselineRounds: baselinePerSecond.map(round),
        toBaseline: baselinePerSecond.length > 0 ? 0.4 : null,
        beside: [],
      },
    ],
    firstRequests: [
      { kind, format: 'json', bodyBytes: 4321, firstMs: [5, 7, 6], againMs: [1, 2, 3], expectedMs: [4] },
    ],
    loads: [
      { ...load, name: 'hpa', what: '500 autoscalers', cpuMillicores: 30, medianMs: 1, p99Ms: 2 },
      { ...load, name: 'churn', what: '100 pods/s', cpuMillicores: 20, medianMs: null, p99Ms: null },
    ],
  };
}
