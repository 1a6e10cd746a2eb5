import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestHttps } from '#spec/support/https-request.ts';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { readProcessUsage } from '../process-usage.ts';
import { quantile } from '../quantile.ts';
import { ClusterProcess } from './cluster-process.ts';
import { boundOf, bucketsOf, bucketsSince } from './histogram-quantile.ts';
import type { ClusterCounts, ScaledClusterOptions } from './scaled-cluster.ts';

/** HPAs, how often they are decided, and for how long that is watched. */
export interface HpasScenario extends ScaledClusterOptions {
  readonly syncPeriodMs: number;
  /** How many periods pass before measuring, and while it is. */
  readonly settlePeriods: number;
  readonly periods: number;
  /** How many HPAs get more load, one after another over one period. */
  readonly raised: number;
  /** More flags of the autoscaler. */
  readonly flags?: readonly string[];
}

/** What deciding them has cost. */
export interface HpasResult {
  readonly scenario: HpasScenario;
  /** From the start of the autoscaler until each HPA was decided. */
  readonly startToDecidedMs: number;
  readonly millicores: number;
  /** While some were scaled, too. */
  readonly scalingMillicores: number;
  readonly residentBytes: number;
  readonly peakResidentBytes: number;
  /** Upper bounds, of a histogram's buckets. */
  readonly lagSeconds: { readonly half: number; readonly p99: number; readonly all: number };
  /** How long ago the HPA was decided that was so first, at the end. */
  readonly oldestDecisionMs: number;
  /** While nothing was scaled. */
  readonly counts: ClusterCounts;
  readonly durationMs: number;
  /** From when more load showed in the metrics until the scale was written, in ascending order. */
  readonly reactionsMs: readonly number[];
  readonly scalingCounts: ClusterCounts;
}

/** How scenarios are run. */
export interface HpasOptions {
  /** The program's command line up to its flags, without the word `autoscaler`. */
  readonly program: readonly [string, ...string[]];
  readonly onProgress: (what: string) => void;
  readonly signal?: AbortSignal;
}

const MANY_PODS = { podsPerHpa: 10, namespaces: 50, wanderingPercent: 20 };

/** What `make bench ARGS=hpa` runs. */
export const HPAS_SCENARIOS: readonly HpasScenario[] = [
  { hpas: 5000, syncPeriodMs: 15_000, settlePeriods: 1, periods: 2, raised: 250, ...MANY_PODS },
  { hpas: 1000, syncPeriodMs: 5000, settlePeriods: 3, periods: 6, raised: 100, ...MANY_PODS },
];

/** Decided within this time of the start, or the run has failed. */
const DECIDED_WITHIN_MS = 120_000;
const RAISED_PERCENT = 75;

/** Has an autoscaler in a process of its own decide the HPAs of a simulated cluster, in another. */
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
    const [before, usage, lagsBefore, fromMs] = [
      await cluster.counts(),
      readProcessUsage(pid),
      await lags(),
      performance.now(),
    ];
    await run();
    const durationMs = performance.now() - fromMs;
    const millicores = ((readProcessUsage(pid).cpuMs - usage.cpuMs) / durationMs) * 1000;
    const counts = difference(before, await cluster.counts());
    return { counts, durationMs, millicores, lags: bucketsSince(lagsBefore, await lags()) };
  };
  onProgress('measuring');
  const steady = await measured(() => sleep(scenario.periods * scenario.syncPeriodMs, undefined, { signal }));
  const nowMs = Date.now();
  const oldestDecisionMs = nowMs - Math.min(...(await decided()).map(({ latest }) => latest.atMs));
  onProgress('raising loads');
  const reactionsMs: number[] = [];
  const scaling = await measured(async () => {
    reactionsMs.push(...(await raise(cluster, scenario, signal)));
  });
  const { residentBytes, peakResidentBytes } = readProcessUsage(pid);
  return {
    ...{ scenario, startToDecidedMs, residentBytes, peakResidentBytes, oldestDecisionMs },
    ...{ millicores: steady.millicores, counts: steady.counts, durationMs: steady.durationMs },
    ...{ scalingMillicores: scaling.millicores, scalingCounts: scaling.counts },
    lagSeconds: {
      half: boundOf(steady.lags, 0.5),
      p99: boundOf(steady.lags, 0.99),
      all: boundOf(steady.lags, 1),
    },
    reactionsMs: reactionsMs.sort((one, other) => one - other),
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
  const env = { ...process.env, MALLOC_ARENA_MAX: '1' }; // as in the image
  return new SpawnedProgram(command, args, { name: 'the autoscaler', env });
}

/** Raises the loads of some, evenly over one period. @returns how long each took to be scaled */
async function raise(
  cluster: ClusterProcess,
  { hpas, raised, syncPeriodMs }: HpasScenario,
  signal: AbortSignal | undefined,
): Promise<readonly number[]> {
  const reactions: Promise<number>[] = [];
  const startedAtMs = performance.now();
  for (let count = 0; count < raised; count++) {
    await sleep(Math.max(0, startedAtMs + (count * syncPeriodMs) / raised - performance.now()), undefined, {
      signal,
    });
    reactions.push(cluster.raise(Math.floor((count * hpas) / raised), RAISED_PERCENT));
  }
  return await Promise.all(reactions);
}

function difference(before: ClusterCounts, after: ClusterCounts): ClusterCounts {
  return {
    usageLists: after.usageLists - before.usageLists,
    statusWrites: after.statusWrites - before.statusWrites,
    configMapWrites: after.configMapWrites - before.configMapWrites,
    scaleWrites: after.scaleWrites - before.scaleWrites,
    cpuMs: after.cpuMs - before.cpuMs,
  };
}

/** The same as Markdown. */
export function reportHpas({
  scenario,
  counts,
  lagSeconds: lag,
  reactionsMs,
  ...result
}: HpasResult): string {
  const { hpas, podsPerHpa, namespaces, syncPeriodMs, wanderingPercent } = scenario;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  const reaction = (share: number) => seconds(quantile(reactionsMs, share));
  const periods = result.durationMs / syncPeriodMs;
  const perSecond = (count: number) => ((count * 1000) / result.durationMs).toFixed(1);
  return [
    `## hpa: ${hpas} HPAs of ${podsPerHpa} pods each in ${namespaces} namespaces, every ${seconds(syncPeriodMs)}, usage of ${wanderingPercent} % changes`,
    '',
    `- start to each decided: ${seconds(result.startToDecidedMs)}`,
    `- decided late by: half ≤ ${lag.half} s, 99 % ≤ ${lag.p99} s, all ≤ ${lag.all} s; the oldest decision was ${seconds(result.oldestDecisionMs)} old`,
    `- CPU: ${result.millicores.toFixed(0)} millicores; ${result.scalingMillicores.toFixed(0)} while ${reactionsMs.length} were scaled; the simulated cluster's: ${((counts.cpuMs / result.durationMs) * 1000).toFixed(0)}`,
    `- resident: ${mebibytes(result.residentBytes)}, at most ${mebibytes(result.peakResidentBytes)}`,
    `- lists of usage a namespace and period: ${(counts.usageLists / namespaces / periods).toFixed(2)}`,
    `- written in a second: ${perSecond(counts.statusWrites)} statuses, ${perSecond(counts.configMapWrites)} ConfigMaps; while scaling ${result.scalingCounts.configMapWrites} ConfigMaps for ${result.scalingCounts.scaleWrites} scales`,
    `- metric to scale: half ${reaction(0.5)}, 99 % ${reaction(0.99)}, all ${reaction(1)}`,
  ].join('\n');
}
