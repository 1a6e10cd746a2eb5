import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadClusterAccess } from '#lib/kubernetes/access/load-cluster-access.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { systemClock } from '#lib/time/clock.ts';
import { startAutoscalerSystem } from '#spec/support/autoscaler-system.ts';
import { imageEnvironment } from '#spec/support/image-environment.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { readProcessUsage } from '../process-usage.ts';
import { quantile } from '../quantile.ts';
import { ScheduledObjects } from './scheduled-objects.ts';

/** How many objects there are, how fast they change, and for how long. */
export interface ControllersScenario {
  readonly objects: number;
  readonly changesPerSecond: number;
  readonly durationMs: number;
  /** How long the autoscaler is left to itself before it is measured. */
  readonly settleMs: number;
}

/** What following and reconciling them has cost. */
export interface ControllersResult {
  readonly scenario: ControllersScenario;
  /** From the start of the autoscaler until each object had its first status. */
  readonly startToReadyMs: number;
  readonly changes: number;
  /** From when the API server has taken a change until the status that follows from it is there, in ascending order. */
  readonly latenciesMs: readonly number[];
  readonly idleMillicores: number;
  readonly millicores: number;
  readonly residentBytes: number;
  readonly peakResidentBytes: number;
}

/** How the scenario is run. */
export interface ControllersOptions {
  /** The program's command line up to its flags, without the word `autoscaler`. */
  readonly program: readonly [string, ...string[]];
  readonly onProgress: (what: string) => void;
  readonly signal?: AbortSignal;
}

/** What `make bench` runs. */
export const CONTROLLERS_SCENARIO: ControllersScenario = {
  objects: 10_000,
  changesPerSecond: 100,
  durationMs: 30_000,
  settleMs: 20_000,
};

const IDLE_MS = 10_000;
/** As the manifests start it without the components that serve them. */
const NO_METRICS_APIS = ['--enable-custom-metrics-api=false', '--enable-external-metrics-api=false'];

/** Has an autoscaler in a process of its own reconcile objects of a simulated cluster, in another, while they are changed here. */
export async function measureControllers(
  scenario: ControllersScenario,
  { program, onProgress, signal }: ControllersOptions,
): Promise<ControllersResult> {
  onProgress('creating objects');
  let startedAtMs = 0;
  await using stack = new AsyncDisposableStack();
  const created: { objects?: ScheduledObjects } = {};
  const system = stack.use(
    await startAutoscalerSystem({
      program,
      env: imageEnvironment(),
      flags: ['--kube-api-qps=5000', '--kube-api-burst=5000', '--controllers=cronhpa', ...NO_METRICS_APIS],
      async prepare(kubeconfig) {
        const access = await loadClusterAccess({
          kubeconfig,
          clock: systemClock,
          logger: new RecordingLogger(),
        });
        const api = stack.use(new ApiClient({ access, clock: systemClock, userAgent: 'benchmark' }));
        created.objects = stack.use(new ScheduledObjects(api, scenario.objects));
        await created.objects.create();
        startedAtMs = performance.now();
        onProgress('starting');
      },
      ...(signal && { signal }),
    }),
  );
  const { objects } = created;
  if (!objects) throw new Error('Cannot measure controllers: no objects');
  const { pid } = system.autoscaler;
  await objects.reconciled(signal);
  const startToReadyMs = performance.now() - startedAtMs;
  onProgress('settling');
  await sleep(scenario.settleMs, undefined, { signal });
  const idle = await millicoresWhile(pid, () => sleep(IDLE_MS, undefined, { signal }));
  onProgress('changing objects');
  const latenciesMs: number[] = [];
  const millicores = await millicoresWhile(pid, async () => {
    await objects.change({
      ...scenario,
      ...(signal && { signal }),
      onReconciled: (ms) => void latenciesMs.push(ms),
    });
  });
  const { residentBytes, peakResidentBytes } = readProcessUsage(pid);
  latenciesMs.sort((a, b) => a - b);
  return {
    ...{ scenario, startToReadyMs, changes: latenciesMs.length, latenciesMs },
    ...{ idleMillicores: idle, millicores, residentBytes, peakResidentBytes },
  };
}

/** The same as Markdown. */
export function reportControllers({ scenario, latenciesMs, ...result }: ControllersResult): string {
  const ms = (share: number) => `${quantile(latenciesMs, share).toFixed(1)} ms`;
  const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  return [
    `## controllers: ${scenario.objects} CronHorizontalPodAutoscalers, ${scenario.changesPerSecond} changes a second`,
    '',
    `- start to each status: ${(result.startToReadyMs / 1000).toFixed(1)} s`,
    `- change to status, ${result.changes} changes: half ${ms(0.5)}, 95 % ${ms(0.95)}, 99 % ${ms(0.99)}, all ${ms(1)}`,
    `- CPU: ${result.idleMillicores.toFixed(1)} millicores without changes, ${result.millicores.toFixed(1)} with`,
    `- resident: ${mebibytes(result.residentBytes)}, at most ${mebibytes(result.peakResidentBytes)}`,
  ].join('\n');
}

async function millicoresWhile(pid: number, run: () => Promise<void>): Promise<number> {
  const [before, startedAtMs] = [readProcessUsage(pid).cpuMs, performance.now()];
  await run();
  return ((readProcessUsage(pid).cpuMs - before) / (performance.now() - startedAtMs)) * 1000;
}
