import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { startSimulatedSystem } from '#spec/support/simulated-system.ts';
import { untilServed } from '#spec/support/until-served.ts';
import { measureRequests, type RequestResult } from './measure-requests.ts';
import { readProcessUsage } from './process-usage.ts';
import type { BenchmarkScenario, RequestKind } from './scenarios.ts';

/** How long and how often to measure, and what. */
export interface BenchmarkOptions {
  /** The server's command line up to its flags. */
  readonly program: readonly [string, ...string[]];
  /** How long to watch the server scrape without any request. */
  readonly scrapeMs: number;
  /** What to ask afterwards. */
  readonly kinds: readonly RequestKind[];
  /** How long one round of one kind of request takes. */
  readonly roundMs: number;
  readonly rounds: number;
  readonly onProgress: (what: string) => void;
}

/** What one scenario has cost. */
export interface ScenarioResult {
  readonly scenario: BenchmarkScenario;
  readonly startToReadyMs: number;
  readonly scraping: { readonly cpuMillicores: number; readonly residentBytes: number };
  readonly requests: readonly RequestResult[];
  /** The most memory that the server held at any time, requests included. */
  readonly peakResidentBytes: number;
}

const RESOLUTION = '15s';
const READY_WITHIN_MS = 120_000;

/** Runs the server on one scenario, alone but for the simulator and, in its turn, the load generator. */
export async function runScenario(
  scenario: BenchmarkScenario,
  options: BenchmarkOptions,
): Promise<ScenarioResult> {
  options.onProgress('starting');
  const cluster = {
    '--nodes': scenario.nodes,
    '--pods-per-node': scenario.podsPerNode,
    '--containers-per-pod': scenario.containersPerPod,
  };
  await using system = await startSimulatedSystem({
    cluster: Object.entries(cluster).flatMap(([flag, value]) => [flag, `${value}`]),
    flags: [`--metric-resolution=${RESOLUTION}`],
    program: options.program,
  });
  const startToReadyMs = await untilReady(system.serverOrigin);
  const pods = scenario.nodes * scenario.podsPerNode;
  await untilServed(system, { nodes: scenario.nodes, pods }, { timeoutMs: READY_WITHIN_MS });

  options.onProgress('scraping');
  const before = readProcessUsage(system.server.pid);
  await sleep(options.scrapeMs);
  const after = readProcessUsage(system.server.pid);
  const cpuMillicores = ((after.cpuMs - before.cpuMs) / options.scrapeMs) * 1000;

  const requests = await measureRequests(system, options);
  return {
    scenario,
    startToReadyMs,
    scraping: { cpuMillicores, residentBytes: after.residentBytes },
    requests,
    peakResidentBytes: readProcessUsage(system.server.pid).peakResidentBytes,
  };
}

/** How long it takes from now until the server calls itself ready. */
async function untilReady(origin: string): Promise<number> {
  const startMs = performance.now();
  await using stack = new AsyncDisposableStack();
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  stack.defer(() => dispatcher.close());
  for (;;) {
    const elapsedMs = performance.now() - startMs;
    const status = await request(`${origin}/readyz`, { dispatcher }).then(
      async ({ statusCode, body }) => body.dump().then(() => statusCode),
      () => 'no answer' as const, // it does not listen yet
    );
    if (status === 200) return elapsedMs;
    if (elapsedMs > READY_WITHIN_MS)
      throw new Error(`The server was not ready in ${READY_WITHIN_MS} ms: ${status}`);
    await sleep(50);
  }
}
