import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestHttps } from '#spec/support/https-request.ts';
import { imageEnvironment } from '#spec/support/image-environment.ts';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { readServingCertificate } from '../baseline/read-serving-certificate.ts';
import { startBaseline } from '../baseline/start-baseline.ts';
import { type ClientCertificate, readAdminAccess } from '../credentials.ts';
import { PROBE } from '../load/ask.ts';
import type { LoadJob, LoadResult } from '../load/generate-load.ts';
import { spawnLoad } from '../load/spawn-load.ts';
import { readProcessUsage } from '../process-usage.ts';
import type { QueueRequests } from './filled-queues.ts';
import type { QueueClusterCounts, QueueClusterOptions } from './queue-cluster.ts';
import { QueueClusterProcess } from './queue-cluster-process.ts';
import { kindOf } from './queued-objects.ts';

/** ScaledObjects, and for how long each part of what they cost is measured. */
export interface ScaledObjectsScenario extends QueueClusterOptions {
  /** How long the autoscaler is left to itself before it is measured. */
  readonly settleMs: number;
  readonly pollMs: number;
  readonly requestMs: number;
  /** For how long requests are made before they are measured. */
  readonly warmUpMs: number;
  readonly hangMs: number;
  /** How many empty queues get their first messages, one after another, over one polling interval. */
  readonly filled: number;
}

/** What polling, serving and scaling has cost. */
export interface ScaledObjectsResult {
  readonly scenario: ScaledObjectsScenario;
  /** From the start of the autoscaler until each object was ready, and its triggers had been asked. */
  readonly startToReadyMs: number;
  readonly millicores: number;
  /** The simulated cluster's and its queues', meanwhile. */
  readonly clusterMillicores: number;
  readonly residentBytes: number;
  readonly peakResidentBytes: number;
  readonly polls: QueueRequests;
  readonly counts: QueueClusterCounts;
  readonly external: LoadResult;
  readonly externalMillicores: number;
  /** The same requests of a server that does nothing else, while the autoscaler polls. */
  readonly bare: LoadResult;
  /** While one of the brokers hangs, of those that it does not concern. */
  readonly hanging: QueueRequests;
  /** From the first message in an empty queue until the target has replicas, in ascending order; with the broker still hanging. */
  readonly reactionsMs: readonly number[];
  readonly pushReactionsMs: readonly number[];
}

/** How the scenario is run. */
export interface ScaledObjectsBenchmarkOptions {
  /** The program's command line up to its flags, without the word `autoscaler`. */
  readonly program: readonly [string, ...string[]];
  readonly onProgress: (what: string) => void;
  readonly signal?: AbortSignal;
}

/** What `make bench ARGS=scaled-objects` runs. */
export const SCALED_OBJECTS_SCENARIO: ScaledObjectsScenario = {
  ...{ objects: 2000, namespaces: 50, pollingMs: 30_000, busyPercent: 20, pushed: 50 },
  // Two intervals: the first two waits of a poll are drawn at random, and would be told as being off its time.
  ...{ settleMs: 62_000, pollMs: 45_000, warmUpMs: 2_000, requestMs: 30_000, hangMs: 31_000, filled: 100 },
};

const CLIENTS = 4;
const READY_WITHIN_MS = 120_000;
/** As often as an HPA controller asks for each metric. */
const HPA_SYNC_MS = 15_000;
/** The baseline is told what to record on its command line. */
const MAX_RECORDED = 200;

/** Has an autoscaler in a process of its own poll the queues of ScaledObjects of a simulated cluster, in another. */
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

/** Has bare koa asked for what the autoscaler has responded, while that goes on polling. */
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

/** @throws where a metric has no value: nothing that is measured then tells anything */
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

/** Objects whose queues are empty, and have nothing to do with the broker that hangs, from one end to the other. */
function idle(scenario: ScaledObjectsScenario): readonly number[] {
  const all = Array.from({ length: scenario.objects }, (_, index) => index).filter((index) => {
    const { isBusy, isPushed, isAtOtherBroker } = kindOf(index, scenario);
    return !isBusy && !isPushed && !isAtOtherBroker;
  });
  const step = Math.max(1, Math.floor(all.length / scenario.filled));
  return all.filter((_, place) => place % step === 0);
}

/** Puts messages into queues one after another, whatever becomes of earlier ones. @returns how long each took, in ascending order */
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
    longestHoldUpMs: after.longestHoldUpMs,
  };
}

async function millicoresWhile(pid: number, run: () => Promise<void>): Promise<number> {
  const [before, startedAtMs] = [readProcessUsage(pid).cpuMs, performance.now()];
  await run();
  return ((readProcessUsage(pid).cpuMs - before) / (performance.now() - startedAtMs)) * 1000;
}
