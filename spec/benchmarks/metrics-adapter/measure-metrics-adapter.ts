import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import { loadClusterAccess } from '#lib/kubernetes/access/load-cluster-access.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { systemClock } from '#lib/time/clock.ts';
import { startAutoscalerSystem } from '#spec/support/autoscaler-system.ts';
import { freePort } from '#spec/support/free-port.ts';
import { imageEnvironment } from '#spec/support/image-environment.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { readServingCertificate } from '../baseline/read-serving-certificate.ts';
import { type Baseline, startBaseline } from '../baseline/start-baseline.ts';
import { type ClientCertificate, readAdminAccess } from '../credentials.ts';
import type { LoadResult } from '../load/generate-load.ts';
import { PROBE } from '../load/send.ts';
import { spawnLoad } from '../load/spawn-load.ts';
import { readProcessUsage } from '../process-usage.ts';
import { CountedSources, type SourceCounts } from './counted-sources.ts';
import { createWorkloads, externalPaths, podsPaths, type ScaledWorkloads } from './scaled-workloads.ts';

/** Workloads whose metrics are collected, and the durations of the measurements. */
export interface MetricsAdapterScenario extends ScaledWorkloads {
  /** Idle time after the start, before the measurement. */
  readonly settleMs: number;
  readonly collectMs: number;
  readonly requestMs: number;
  /** Duration of unmeasured requests before each part. */
  readonly warmUpMs: number;
}

/** Cost of collecting and serving metrics. */
export interface MetricsAdapterResult {
  readonly scenario: MetricsAdapterScenario;
  /** From the start of the autoscaler until each HPA has all its metrics. */
  readonly startToServedMs: number;
  /** Without requests. */
  readonly millicores: number;
  readonly residentBytes: number;
  readonly peakResidentBytes: number;
  /** Requests to sources during `collectMs`. */
  readonly requested: SourceCounts;
  readonly requests: readonly RequestsMeasured[];
}

/** Requests of four clients, and their cost. */
export interface RequestsMeasured extends LoadResult {
  readonly what: string;
  /** The autoscaler's CPU use for collecting and serving, or that of bare koa for serving only. */
  readonly millicores: number;
}

export interface MetricsAdapterBenchmarkOptions {
  /** Command line of the program, without `autoscaler` and flags. */
  readonly program: readonly [string, ...string[]];
  readonly onProgress: (what: string) => void;
  readonly signal?: AbortSignal;
}

/** Default scenario of `make bench`. */
export const METRICS_ADAPTER_SCENARIO: MetricsAdapterScenario = {
  ...{ hpas: 1000, podsPerHpa: 3, namespaces: 50, intervalSeconds: 15 },
  ...{ settleMs: 20_000, collectMs: 30_000, requestMs: 8_000, warmUpMs: 2_000 },
};

const CLIENTS = 4;
/** Limited because the baseline receives its requests on the command line. */
const MAX_RECORDED = 200;
const SERVED_WITHIN_MS = 300_000;

/**
 * Runs an autoscaler in a process of its own that collects metrics for a simulated cluster's HPAs from real servers on
 * loopback.
 */
export async function measureMetricsAdapter(
  scenario: MetricsAdapterScenario,
  { program, onProgress, signal }: MetricsAdapterBenchmarkOptions,
): Promise<MetricsAdapterResult> {
  await using stack = new AsyncDisposableStack();
  const sources = stack.use(await CountedSources.start(scenario.hpas * scenario.podsPerHpa));
  const port = await freePort();
  let [startedAtMs, tls]: [number, ClientCertificate | undefined] = [0, undefined];
  onProgress('creating objects');
  const system = stack.use(
    await startAutoscalerSystem({
      program,
      env: imageEnvironment(),
      flags: [
        `--secure-port=${port}`,
        `--prometheus-server=${sources.prometheusUrl}`,
        '--allowed-hosts=127.0.0.0/8',
      ],
      async prepare(kubeconfig) {
        ({ tls } = await readAdminAccess({ kubeconfig }));
        const access = await loadClusterAccess({
          kubeconfig,
          clock: systemClock,
          logger: new RecordingLogger(),
        });
        await using api = new ApiClient({ access, clock: systemClock, userAgent: 'benchmark' });
        await createWorkloads(api, scenario, sources.podPort);
        startedAtMs = performance.now();
        onProgress('starting');
      },
      ...(signal && { signal }),
    }),
  );
  if (!tls) throw new Error('Cannot measure the metrics adapter: no credentials');
  const origin = `https://127.0.0.1:${port}`;
  await allServed(origin, { tls, scenario, ...(signal && { signal }) });
  const startToServedMs = performance.now() - startedAtMs;
  onProgress('settling');
  await sleep(scenario.settleMs, undefined, { signal });

  const { pid } = system.autoscaler;
  onProgress('collecting');
  let millicores = 0;
  const requested = await sources.countWhile(async () => {
    millicores = await millicoresWhile(pid, () => sleep(scenario.collectMs, undefined, { signal }));
  });
  const { residentBytes, peakResidentBytes } = readProcessUsage(pid);
  const requests: RequestsMeasured[] = [];
  const measure = async (
    what: string,
    paths: readonly string[],
    {
      everyMs,
      of = { origin, pid },
    }: { readonly everyMs?: number; readonly of?: Pick<Baseline, 'origin' | 'pid'> } = {},
  ) => {
    onProgress(what);
    const { requestMs: durationMs, warmUpMs } = scenario;
    const job = { ...JOB, paths, origin: of.origin, tls: tls as ClientCertificate, durationMs, warmUpMs };
    const result = await spawnLoad({
      ...{ ...job, serverPid: of.pid },
      ...(everyMs !== undefined && { everyMs }),
    });
    const elapsedMs = (result.requests / result.requestsPerSecond) * 1000;
    requests.push({ ...result, what, millicores: ((result.serverCpuMs ?? 0) / elapsedMs) * 1000 });
  };
  const [external, pods] = [externalPaths(scenario), podsPaths(scenario)];
  const everyMs = CLIENTS * ((scenario.intervalSeconds * 1000) / (2 * scenario.hpas));
  const recorded = external.slice(0, MAX_RECORDED);
  await using koa = await startBaseline({
    ...{ origin, tls, certificate: await readServingCertificate(join(system.folder, 'serving')) },
    requests: [PROBE, ...recorded.map((path) => ({ ...JOB, path }))],
  });
  await measure('External, as often as HPAs are judged', external, { everyMs });
  await measure('the same from bare koa', recorded, { everyMs, of: koa });
  await measure('External, without a pause', external);
  await measure('the same from bare koa', recorded, { of: koa });
  await measure('Pods, without a pause', pods);
  sources.hang();
  await measure('External, as often as HPAs are judged, while all sources hang', external, { everyMs });
  await measure('External, without a pause, while all sources hang', external);
  return {
    ...{ scenario, startToServedMs, millicores, residentBytes, requested, requests },
    peakResidentBytes: Math.max(peakResidentBytes, readProcessUsage(pid).peakResidentBytes),
  };
}

const JOB = {
  ...{ path: '/livez', mediaType: 'application/json', gzip: true },
  protocol: 'HTTP/1.1',
  clients: CLIENTS,
} as const;

/** Waits until each metric of each HPA has a value. */
async function allServed(
  origin: string,
  {
    tls,
    scenario,
    signal,
  }: {
    readonly tls: ClientCertificate;
    readonly scenario: MetricsAdapterScenario;
    readonly signal?: AbortSignal;
  },
): Promise<void> {
  const client = new Client(origin, { connect: { ...tls, rejectUnauthorized: false } });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => client.close());
  const expected = 3 * scenario.hpas;
  let served = 0;
  for (const untilMs = performance.now() + SERVED_WITHIN_MS; performance.now() < untilMs; ) {
    await sleep(1000, undefined, { signal });
    const { statusCode, body } = await client.request({ method: 'GET', path: '/debug/metrics' });
    const text = await body.text();
    if (statusCode !== 200) continue;
    const { collected } = JSON.parse(text) as { collected: readonly { readonly isServed: boolean }[] };
    served = collected.filter(({ isServed }) => isServed).length;
    if (served === expected) return;
  }
  throw new Error(
    `Cannot measure the metrics adapter: ${served} of ${expected} metrics were available in time`,
  );
}

async function millicoresWhile(pid: number, run: () => Promise<void>): Promise<number> {
  const [before, startedAtMs] = [readProcessUsage(pid).cpuMs, performance.now()];
  await run();
  return ((readProcessUsage(pid).cpuMs - before) / (performance.now() - startedAtMs)) * 1000;
}
