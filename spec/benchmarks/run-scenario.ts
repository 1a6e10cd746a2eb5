import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { imageEnvironment } from '#spec/support/image-environment.ts';
import { type SimulatedSystem, startSimulatedSystem } from '#spec/support/simulated-system.ts';
import { untilServed } from '#spec/support/until-served.ts';
import type { BackgroundLoad } from './background/background-load.ts';
import { type BackgroundLoadResult, measureBackgroundLoads } from './background/measure-background-loads.ts';
import { type ServerBeside, spawnBeside } from './beside/spawn-beside.ts';
import { KUBELET_PATHS } from './inspect-kubelet.ts';
import { type FirstRequestResult, measureFirstRequests } from './measure-first-requests.ts';
import { measureRequests, type RequestResult } from './measure-requests.ts';
import { measureScraping, type ScrapingResult } from './measure-scraping.ts';
import { readProcessUsage } from './process-usage.ts';
import { type BenchmarkScenario, type Format, RESOLUTION_MS, type RequestKind } from './scenarios.ts';
import { findTargets } from './targets.ts';

/** Durations, repetitions and selection of measurements. */
export interface BenchmarkOptions {
  /** Command line of the server, without flags. */
  readonly program: readonly [string, ...string[]];
  /** Whether kubelets report pressure (PSI) and IO, as since 1.34. */
  readonly kubeletPsi: boolean;
  /** Idle time after the start, before the measurement, so that the garbage of the start is collected. */
  readonly settleMs: number;
  /** Duration of scraping without requests. */
  readonly scrapeMs: number;
  /** Whether a bare scraper runs beside the server during scraping. */
  readonly bareScraper?: boolean;
  /**
   * Command lines, without flags, of other servers that scrape at the same time, and receive requests in alternating
   * rounds.
   */
  readonly beside?: readonly (readonly [string, ...string[]])[];
  /** Kubelet endpoint to set by flag; the server's default if absent. */
  readonly endpoint?: 'summary' | 'resource' | undefined;
  /** Kinds of requests to measure after scraping. */
  readonly kinds: readonly RequestKind[];
  readonly formats: readonly Format[];
  /** Duration of a round of one kind of request. */
  readonly roundMs: number;
  readonly rounds: number;
  /** Whether to alternate rounds with the baseline: bare koa with the same responses prepared. */
  readonly baseline: boolean;
  /** Number of first responses after a cycle to measure, for each kind and format. */
  readonly firsts: number;
  /** Loads to run during scraping, one after the other. */
  readonly loads: readonly BackgroundLoad[];
  readonly loadMs: number;
  readonly onProgress: (what: string) => void;
  /** Stops the run when aborted. */
  readonly signal?: AbortSignal;
}

/** Cost of one scenario. */
export interface ScenarioResult {
  readonly scenario: BenchmarkScenario;
  readonly startToReadyMs: number;
  readonly kubeletPsi: boolean;
  readonly scraping: ScrapingResult;
  readonly requests: readonly RequestResult[];
  readonly firstRequests: readonly FirstRequestResult[];
  readonly loads: readonly BackgroundLoadResult[];
  /** Maximum memory of the server, including requests. */
  readonly peakResidentBytes: number;
}

const READY_WITHIN_MS = 120_000;

/** Measures the server on one scenario. Only the simulator runs beside it, and later the load generator. */
export async function runScenario(
  scenario: BenchmarkScenario,
  options: BenchmarkOptions,
): Promise<ScenarioResult> {
  options.onProgress('starting');
  const cluster = {
    '--nodes': scenario.nodes,
    '--pods-per-node': scenario.podsPerNode,
    '--containers-per-pod': scenario.containersPerPod,
    '--namespaces': scenario.namespaces,
    '--apps-per-namespace': scenario.appsPerNamespace,
    '--feature-gates': `KubeletPSI=${options.kubeletPsi}`,
  };
  const flags = [
    `--metric-resolution=${RESOLUTION_MS / 1000}s`,
    ...(options.endpoint ? [`--kubelet-metrics-endpoint=${options.endpoint}`] : []),
  ];
  await using system = await startSimulatedSystem({
    cluster: Object.entries(cluster).flatMap(([flag, value]) => [flag, `${value}`]),
    flags,
    program: options.program,
    env: imageEnvironment(),
    ...(options.signal && { signal: options.signal }),
  });
  await using beside = await spawnBeside(system, options.beside ?? [], flags);
  return await Promise.race([
    measure(system, scenario, { ...options, servers: beside.servers }),
    untilEnded(system, options),
    ...(options.signal ? [untilAborted(options.signal)] : []),
  ]);
}

async function measure(
  system: SimulatedSystem,
  scenario: BenchmarkScenario,
  options: BenchmarkOptions & { readonly servers: readonly ServerBeside[] },
): Promise<ScenarioResult> {
  const startToReadyMs = await untilReady(system.serverOrigin);
  const pods = scenario.nodes * scenario.podsPerNode;
  await untilServed(system, { nodes: scenario.nodes, pods }, { timeoutMs: READY_WITHIN_MS });

  for (const { origin } of options.servers) await untilReady(origin);

  options.onProgress('settling');
  await sleep(options.settleMs);
  options.onProgress('scraping');
  const scraping = await measureScraping(system, {
    scrapeMs: options.scrapeMs,
    bare: options.bareScraper
      ? { nodes: scenario.nodes, path: KUBELET_PATHS[options.endpoint ?? 'summary'] }
      : undefined,
    beside: options.servers,
  });

  const targets = await findTargets(system);
  const requests = await measureRequests(system, targets[0], options);
  const firstRequests = await measureFirstRequests(system, targets[0], options);
  const loads = await measureBackgroundLoads({ system, targets }, options);
  return {
    scenario,
    startToReadyMs,
    kubeletPsi: options.kubeletPsi,
    scraping,
    requests,
    firstRequests,
    loads,
    peakResidentBytes: readProcessUsage(system.server.pid).peakResidentBytes,
  };
}

/** Rejects when the server ends, which without a failure happens after all measurements. */
async function untilEnded({ server }: SimulatedSystem, { program }: BenchmarkOptions): Promise<never> {
  const { status, signal } = await server.ended;
  const lastWords = server.output.slice(-3).join('; ') || 'it said nothing';
  throw new Error(`${program.join(' ')} ended with ${signal ?? `status ${status}`}: ${lastWords}`);
}

async function untilAborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
}

/** Time in milliseconds until the server reports ready. */
async function untilReady(origin: string): Promise<number> {
  const startMs = performance.now();
  await using stack = new AsyncDisposableStack();
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  stack.defer(() => dispatcher.close());
  for (;;) {
    const elapsedMs = performance.now() - startMs;
    const status = await request(`${origin}/readyz`, { dispatcher }).then(
      async ({ statusCode, body }) => body.dump().then(() => statusCode),
      () => 'no response' as const, // not listening yet
    );
    if (status === 200) return elapsedMs;
    if (elapsedMs > READY_WITHIN_MS)
      throw new Error(`The server was not ready in ${READY_WITHIN_MS} ms: ${status}`);
    await sleep(50);
  }
}
