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

/** Number of objects, rate of changes and duration. */
export interface ControllersScenario {
  readonly objects: number;
  readonly changesPerSecond: number;
  readonly durationMs: number;
  /** Idle time after the start, before the measurement. */
  readonly settleMs: number;
}

/** Cost of watching and reconciling the objects. */
export interface ControllersResult {
  readonly scenario: ControllersScenario;
  /** From the start of the autoscaler until each object has its first status. */
  readonly startToReadyMs: number;
  readonly changes: number;
  /** From the API server's response to a change until the resulting status is observed, ascending. */
  readonly latenciesMs: readonly number[];
  readonly idleMillicores: number;
  readonly millicores: number;
  readonly residentBytes: number;
  readonly peakResidentBytes: number;
}

export interface ControllersOptions {
  /** Command line of the program, without `autoscaler` and flags. */
  readonly program: readonly [string, ...string[]];
  readonly onProgress: (what: string) => void;
  readonly signal?: AbortSignal;
}

/** Default scenario of `make bench`. */
export const CONTROLLERS_SCENARIO: ControllersScenario = {
  objects: 10_000,
  changesPerSecond: 100,
  durationMs: 30_000,
  settleMs: 20_000,
};

const IDLE_MS = 10_000;
/** Flags of the manifests without the metrics API components. */
const NO_METRICS_APIS = ['--enable-custom-metrics-api=false', '--enable-external-metrics-api=false'];

/**
 * Runs an autoscaler and a simulated cluster in processes of their own, and measures reconciliation while this process
 * changes objects.
 */
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

/** Formats a result as Markdown. */
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
