import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestHttps } from '#spec/support/https-request.ts';
import { imageEnvironment } from '#spec/support/image-environment.ts';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { readProcessUsage } from '../process-usage.ts';
import { ClusterProcess } from './cluster-process.ts';
import { boundOf, bucketsOf, bucketsSince } from './histogram-quantile.ts';
import type { HpasScenario } from './hpas-scenarios.ts';
import type { ClusterCounts, Reaction } from './scaled-cluster.ts';

/** Cost of evaluating the HPAs. */
export interface HpasResult {
  readonly scenario: HpasScenario;
  /** From the start of the autoscaler until each HPA is evaluated. */
  readonly startToDecidedMs: number;
  readonly millicores: number;
  /** While some HPAs are scaled. */
  readonly scalingMillicores: number;
  readonly residentBytes: number;
  readonly peakResidentBytes: number;
  /** Upper bounds of histogram buckets. */
  readonly lagSeconds: { readonly half: number; readonly p99: number; readonly all: number };
  /** Age of the oldest evaluation at the end. */
  readonly oldestDecisionMs: number;
  /** While no HPA is scaled. */
  readonly counts: CountedClusterWork;
  /** From the increase of the load until the scale is written, ascending. */
  readonly reactionsMs: readonly number[];
  /** From sending the first usage list with the increased load until the scale is written, ascending. */
  readonly actingMs: readonly number[];
  readonly scalingCounts: CountedClusterWork;
}

/** Requests to the cluster during an interval, which the cluster itself has timed. */
export type CountedClusterWork = Omit<ClusterCounts, 'atMs'> & { readonly durationMs: number };

export interface HpasOptions {
  /** Command line of the program, without `autoscaler` and flags. */
  readonly program: readonly [string, ...string[]];
  readonly onProgress: (what: string) => void;
  readonly signal?: AbortSignal;
}

/** Timeout from the start until each HPA is evaluated. */
const DECIDED_WITHIN_MS = 120_000;
const RAISED_PERCENT = 75;

/**
 * Runs an autoscaler and a simulated cluster in processes of their own, and measures how the autoscaler evaluates the
 * cluster's HPAs.
 */
export async function measureHpas(
  scenario: HpasScenario,
  { program, onProgress, signal }: HpasOptions,
): Promise<HpasResult> {
  await using stack = new AsyncDisposableStack();
  onProgress('creating Deployments and pods');
  const { cluster, kubeconfig } = await ClusterProcess.start(scenario, signal);
  stack.use(cluster);
  onProgress('starting');
  const startedAtMs = performance.now();
  const autoscaler = stack.use(startAutoscaler(scenario, { program, kubeconfig }));
  const { pid } = autoscaler;
  const [, port = ''] = / port=(\d+)/.exec(await autoscaler.line(/"Serving" .* port=\d+/, 60_000)) ?? [];
  const get = async (path: string) =>
    (await requestHttps(`https://127.0.0.1:${port}${path}`, { rejectUnauthorized: false })).body;
  const decided = async () => (JSON.parse(await get('/debug/hpa')) as DebugHpas).hpas;
  for (let count = 0; count < scenario.hpas; count = (await decided()).length) {
    signal?.throwIfAborted();
    if (performance.now() - startedAtMs > DECIDED_WITHIN_MS)
      throw new Error('Cannot measure HPAs: not all were decided in time');
    await sleep(500, undefined, { signal });
  }
  const startToDecidedMs = performance.now() - startedAtMs;
  onProgress('settling');
  await sleep(scenario.settlePeriods * scenario.syncPeriodMs, undefined, { signal });

  const lags = async () => bucketsOf(await get('/metrics'), 'autoscaler_hpa_lag_seconds');
  const measured = async (run: () => Promise<void>) => {
    const lagsBefore = await lags();
    const before = await cluster.counts();
    const [usage, fromMs] = [readProcessUsage(pid), performance.now()];
    await run();
    const durationMs = performance.now() - fromMs;
    const millicores = ((readProcessUsage(pid).cpuMs - usage.cpuMs) / durationMs) * 1000;
    const counts = difference(before, await cluster.counts());
    return { counts, millicores, lags: bucketsSince(lagsBefore, await lags()) };
  };
  onProgress('measuring');
  const steady = await measured(() => sleep(scenario.periods * scenario.syncPeriodMs, undefined, { signal }));
  const nowMs = Date.now();
  const oldestDecisionMs = nowMs - Math.min(...(await decided()).map(({ latest }) => latest.atMs));
  onProgress('raising loads');
  const reactions: Reaction[] = [];
  const scaling = await measured(async () => {
    reactions.push(...(await raise(cluster, scenario, signal)));
  });
  const { residentBytes, peakResidentBytes } = readProcessUsage(pid);
  return {
    ...{ scenario, startToDecidedMs, residentBytes, peakResidentBytes, oldestDecisionMs },
    ...{ millicores: steady.millicores, counts: steady.counts },
    ...{ scalingMillicores: scaling.millicores, scalingCounts: scaling.counts },
    lagSeconds: {
      half: boundOf(steady.lags, 0.5),
      p99: boundOf(steady.lags, 0.99),
      all: boundOf(steady.lags, 1),
    },
    reactionsMs: ascending(reactions.map(({ scaledMs }) => scaledMs)),
    actingMs: ascending(reactions.map(({ shownMs, scaledMs }) => scaledMs - shownMs)),
  };
}

interface DebugHpas {
  readonly hpas: readonly { readonly latest: { readonly atMs: number } }[];
}

function startAutoscaler(
  { syncPeriodMs, flags = [] }: HpasScenario,
  { program, kubeconfig }: { readonly program: HpasOptions['program']; readonly kubeconfig: string },
): SpawnedProgram {
  const [command, ...beginning] = program;
  const joined = [`--kubeconfig=${kubeconfig}`, '--bind-address=127.0.0.1', '--secure-port=0'];
  const own = [
    `--cert-dir=${join(dirname(kubeconfig), 'autoscaler')}`,
    '--authorization-always-allow-paths=/metrics,/debug/hpa',
    '--controllers=hpa',
    ...['--kube-api-qps=2000', '--kube-api-burst=2000'],
    `--horizontal-pod-autoscaler-sync-period=${syncPeriodMs}ms`,
    '--horizontal-pod-autoscaler-cpu-initialization-period=1s',
  ];
  const args = [...beginning, 'autoscaler', ...joined, ...own, ...flags];
  const env = { ...process.env, ...imageEnvironment() };
  return new SpawnedProgram(command, args, { name: 'the autoscaler', env });
}

/** Raises the loads of some HPAs, evenly distributed over one period. @returns the delay of each */
async function raise(
  cluster: ClusterProcess,
  { hpas, raised, syncPeriodMs }: HpasScenario,
  signal: AbortSignal | undefined,
): Promise<readonly Reaction[]> {
  const reactions: Promise<Reaction>[] = [];
  const startedAtMs = performance.now();
  for (let count = 0; count < raised; count++) {
    await sleep(Math.max(0, startedAtMs + (count * syncPeriodMs) / raised - performance.now()), undefined, {
      signal,
    });
    reactions.push(cluster.raise(Math.floor((count * hpas) / raised), RAISED_PERCENT));
  }
  return await Promise.all(reactions);
}

function difference(before: ClusterCounts, { atMs, ...after }: ClusterCounts): CountedClusterWork {
  return {
    durationMs: atMs - before.atMs,
    usageLists: after.usageLists - before.usageLists,
    statusWrites: after.statusWrites - before.statusWrites,
    configMapWrites: after.configMapWrites - before.configMapWrites,
    scaleWrites: after.scaleWrites - before.scaleWrites,
    cpuMs: after.cpuMs - before.cpuMs,
    maxDelayMs: after.maxDelayMs,
  };
}

function ascending(values: number[]): number[] {
  return values.sort((one, other) => one - other);
}
