import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestHttps } from '#spec/support/https-request.ts';
import { imageEnvironment } from '#spec/support/image-environment.ts';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { readServingCertificate } from '../baseline/read-serving-certificate.ts';
import { startBaseline } from '../baseline/start-baseline.ts';
import { type ClientCertificate, readAdminAccess } from '../credentials.ts';
import type { LoadJob, LoadResult } from '../load/generate-load.ts';
import { PROBE } from '../load/send.ts';
import { spawnLoad } from '../load/spawn-load.ts';
import { readProcessUsage } from '../process-usage.ts';
import type { QueueRequests } from './filled-queues.ts';
import type { QueueClusterCounts, QueueClusterOptions } from './queue-cluster.ts';
import { QueueClusterProcess } from './queue-cluster-process.ts';
import { kindOf } from './queued-objects.ts';

/** ScaledObjects, and the durations of the measurements. */
export interface ScaledObjectsScenario extends QueueClusterOptions {
  /** Idle time after the start, before the measurement. */
  readonly settleMs: number;
  readonly pollMs: number;
  readonly requestMs: number;
  /** Duration of unmeasured requests before the measured ones. */
  readonly warmUpMs: number;
  readonly hangMs: number;
  /** Number of empty queues that receive their first messages, evenly distributed over one polling interval. */
  readonly filled: number;
}

/** Cost of polling, serving and scaling. */
export interface ScaledObjectsResult {
  readonly scenario: ScaledObjectsScenario;
  /** From the start of the autoscaler until each object is ready and its triggers have been polled. */
  readonly startToReadyMs: number;
  readonly millicores: number;
  /** Of the simulated cluster and its queues at the same time. */
  readonly clusterMillicores: number;
  readonly residentBytes: number;
  readonly peakResidentBytes: number;
  readonly polls: QueueRequests;
  readonly counts: QueueClusterCounts;
  readonly external: LoadResult;
  readonly externalMillicores: number;
  /** The same requests to a server that only serves, while the autoscaler polls. */
  readonly bare: LoadResult;
  /** Requests to unaffected queues while one of the brokers hangs. */
  readonly hanging: QueueRequests;
  /** From the first message in an empty queue until the target has replicas, ascending; one broker still hangs. */
  readonly reactionsMs: readonly number[];
  readonly pushReactionsMs: readonly number[];
}

export interface ScaledObjectsBenchmarkOptions {
  /** Command line of the program, without `autoscaler` and flags. */
  readonly program: readonly [string, ...string[]];
  readonly onProgress: (what: string) => void;
  readonly signal?: AbortSignal;
}

/** Default scenario of `make bench ARGS=scaled-objects`. */
export const SCALED_OBJECTS_SCENARIO: ScaledObjectsScenario = {
  ...{ objects: 2000, namespaces: 50, pollingMs: 30_000, busyPercent: 20, pushed: 50 },
  // Two intervals: the first two delays of a poll are random, and would count as deviations.
  ...{ settleMs: 62_000, pollMs: 45_000, warmUpMs: 2_000, requestMs: 30_000, hangMs: 31_000, filled: 100 },
};

const CLIENTS = 4;
const READY_WITHIN_MS = 120_000;
/** Interval at which an HPA controller requests each metric. */
const HPA_SYNC_MS = 15_000;
/** Limited because the baseline receives its requests on the command line. */
const MAX_RECORDED = 200;

/**
 * Runs an autoscaler in a process of its own that polls the queues of ScaledObjects in a simulated cluster, which runs
 * in another process.
 */
export async function measureScaledObjects(
  scenario: ScaledObjectsScenario,
  { program, onProgress, signal }: ScaledObjectsBenchmarkOptions,
): Promise<ScaledObjectsResult> {
  await using stack = new AsyncDisposableStack();
  onProgress('creating objects');
  const { cluster, kubeconfig } = await QueueClusterProcess.start(scenario, signal);
  stack.use(cluster);
  const { tls } = await readAdminAccess({ kubeconfig });
  onProgress('starting');
  const startedAtMs = performance.now();
  const autoscaler = stack.use(startAutoscaler(program, kubeconfig));
  const { pid } = autoscaler;
  const [, port = ''] = / port=(\d+)/.exec(await autoscaler.line(/"Serving" .* port=\d+/, 60_000)) ?? [];
  while ((await cluster.counts()).ready < scenario.objects) {
    signal?.throwIfAborted();
    if (performance.now() - startedAtMs > READY_WITHIN_MS)
      throw new Error('Cannot measure ScaledObjects: not all were ready in time');
    await sleep(200, undefined, { signal });
  }
  const startToReadyMs = performance.now() - startedAtMs;
  onProgress('settling');
  await sleep(scenario.settleMs, undefined, { signal });

  onProgress('polling');
  const before = await cluster.counts();
  let millicores = 0;
  const polls = await cluster.requestsWhile(async () => {
    millicores = await millicoresWhile(pid, () => sleep(scenario.pollMs, undefined, { signal }));
  });
  const counts = difference(before, await cluster.counts());
  const { residentBytes } = readProcessUsage(pid);
  const origin = `https://127.0.0.1:${port}`;
  await expectValues(origin, tls);
  onProgress('external metric requests');
  const paths = await cluster.paths();
  const { requestMs: durationMs, warmUpMs } = scenario;
  const job = { ...JOB, tls, everyMs: CLIENTS * (HPA_SYNC_MS / paths.length), durationMs, warmUpMs };
  const external = await spawnLoad({ ...job, origin, paths, serverPid: pid });
  onProgress('the same of bare koa');
  const bare = await measureBare(
    { ...job, origin, paths: paths.slice(0, MAX_RECORDED) },
    certDirOf(kubeconfig),
  );
  onProgress('a broker hangs');
  await cluster.hang();
  const hanging = await cluster.requestsWhile(() => sleep(scenario.hangMs, undefined, { signal }));
  onProgress('filling queues');
  const [reactionsMs, pushReactionsMs] = await Promise.all([
    fill(cluster, idle(scenario).slice(0, scenario.filled), scenario.pollingMs / 2),
    fill(
      cluster,
      Array.from({ length: scenario.pushed }, (_, index) => index),
      scenario.pollingMs / 2,
    ),
  ]);
  return {
    ...{ scenario, startToReadyMs, millicores, residentBytes, polls, counts, external, bare },
    ...{ hanging, reactionsMs, pushReactionsMs },
    externalMillicores: (external.serverCpuMs ?? 0) / (external.requests / external.requestsPerSecond),
    clusterMillicores: (counts.cpuMs / scenario.pollMs) * 1000,
    peakResidentBytes: readProcessUsage(pid).peakResidentBytes,
  };
}

function startAutoscaler(
  program: ScaledObjectsBenchmarkOptions['program'],
  kubeconfig: string,
): SpawnedProgram {
  const [command, ...beginning] = program;
  const joined = [`--kubeconfig=${kubeconfig}`, '--bind-address=127.0.0.1', '--secure-port=0'];
  const own = [
    `--cert-dir=${certDirOf(kubeconfig)}`,
    '--controllers=scaledobjects',
    '--allowed-hosts=127.0.0.0/8',
    ...['--kube-api-qps=2000', '--kube-api-burst=2000'],
  ];
  const env = { ...process.env, ...imageEnvironment() };
  const name = 'the autoscaler';
  return new SpawnedProgram(command, [...beginning, 'autoscaler', ...joined, ...own], { name, env });
}

function certDirOf(kubeconfig: string): string {
  return join(dirname(kubeconfig), 'autoscaler');
}

/** Sends the job's requests to bare koa with the autoscaler's recorded responses, while the autoscaler polls. */
async function measureBare(job: LoadJob, certDir: string): Promise<LoadResult> {
  const { origin, tls, paths = [] } = job;
  const requests = [PROBE, ...paths.map((path) => ({ ...JOB, path }))];
  const certificate = await readServingCertificate(certDir);
  await using koa = await startBaseline({ origin, tls, certificate, requests });
  return await spawnLoad({ ...job, origin: koa.origin });
}

interface DebugScaledObjects {
  readonly scaledObjects: readonly {
    readonly name: string;
    readonly triggers?: readonly {
      readonly metrics: readonly {
        readonly metric: string;
        readonly state: string;
        readonly error?: string;
      }[];
    }[];
  }[];
}

/** @throws Error if a metric has no value, which would make the measurement meaningless */
async function expectValues(origin: string, tls: ClientCertificate): Promise<void> {
  const { body } = await requestHttps(`${origin}/debug/scaled-objects`, {
    ...tls,
    rejectUnauthorized: false,
  });
  const { scaledObjects } = JSON.parse(body) as DebugScaledObjects;
  const missing = scaledObjects.flatMap(({ name, triggers = [] }) =>
    triggers
      .flatMap(({ metrics }) => metrics)
      .filter(({ state }) => state !== 'value')
      .map(({ metric, state, error = '' }) => `${metric} of ${name} (${state}) ${error}`),
  );
  if (missing.length > 0)
    throw new Error(
      `Cannot measure ScaledObjects: ${missing.length} metrics have no value, as ${missing[0]}`,
    );
}

const JOB = {
  ...{ path: '/livez', mediaType: 'application/json', gzip: true },
  protocol: 'HTTP/1.1',
  clients: CLIENTS,
} as const;

/** Indexes of objects with empty queues that neither push nor use the hanging broker, evenly distributed. */
function idle(scenario: ScaledObjectsScenario): readonly number[] {
  const all = Array.from({ length: scenario.objects }, (_, index) => index).filter((index) => {
    const { isBusy, isPushed, isAtOtherBroker } = kindOf(index, scenario);
    return !isBusy && !isPushed && !isAtOtherBroker;
  });
  const step = Math.max(1, Math.floor(all.length / scenario.filled));
  return all.filter((_, place) => place % step === 0);
}

/** Adds messages to queues at a constant rate, without waiting for earlier ones. @returns the delays, ascending */
async function fill(
  cluster: QueueClusterProcess,
  indexes: readonly number[],
  overMs: number,
): Promise<readonly number[]> {
  const startedAtMs = performance.now();
  const running: Promise<number>[] = [];
  for (const [place, index] of indexes.entries()) {
    await sleep(Math.max(0, startedAtMs + (place * overMs) / indexes.length - performance.now()));
    running.push(cluster.fill(index));
  }
  return (await Promise.all(running)).sort((a, b) => a - b);
}

function difference(before: QueueClusterCounts, after: QueueClusterCounts): QueueClusterCounts {
  return {
    ready: after.ready,
    statusWrites: after.statusWrites - before.statusWrites,
    hpaWrites: after.hpaWrites - before.hpaWrites,
    cpuMs: after.cpuMs - before.cpuMs,
    maxStallMs: after.maxStallMs,
  };
}

async function millicoresWhile(pid: number, run: () => Promise<void>): Promise<number> {
  const [before, startedAtMs] = [readProcessUsage(pid).cpuMs, performance.now()];
  await run();
  return ((readProcessUsage(pid).cpuMs - before) / (performance.now() - startedAtMs)) * 1000;
}
