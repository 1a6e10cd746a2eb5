import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import type { SimulatedSystem } from '#spec/support/simulated-system.ts';
import type { LoadJob, LoadResult, Protocol } from './load/generate-load.ts';
import { readProcessUsage } from './process-usage.ts';
import type { BenchmarkOptions } from './run-scenario.ts';
import type { RequestKind } from './scenarios.ts';

/** What one kind of request in one representation has cost, round by round. */
export interface RequestResult {
  readonly kind: RequestKind;
  readonly format: Format;
  readonly gzip: boolean;
  readonly protocol: Protocol;
  readonly rounds: readonly (LoadResult & { readonly serverCpuMsPerRequest: number })[];
}

/** How answers are written. */
export type Format = keyof typeof MEDIA_TYPES;

const MEDIA_TYPES = { json: 'application/json', protobuf: 'application/vnd.kubernetes.protobuf' } as const;
/** Asks a server every chosen kind of question in every representation, one after the other. */
export async function measureRequests(
  system: SimulatedSystem,
  options: BenchmarkOptions,
): Promise<RequestResult[]> {
  const target = await chooseTarget(system);
  const tls = await readClientCertificate(system.kubeconfig);
  const results: RequestResult[] = [];
  for (const { kind, format, gzip, protocol } of representations(options.kinds)) {
    options.onProgress(`${kind.name}, ${format}${gzip ? ', gzip' : ''}, ${protocol}`);
    const job: LoadJob = {
      origin: system.serverOrigin,
      path: kind.path.replace(/NAMESPACE|SELECTOR|POD/g, (word) => target[word as keyof Target]),
      mediaType: MEDIA_TYPES[format],
      gzip,
      protocol,
      clients: kind.clients,
      durationMs: options.roundMs,
      tls,
    };
    const rounds = [];
    while (rounds.length < options.rounds) rounds.push(await measureRound(system, job));
    results.push({ kind, format, gzip, protocol, rounds });
  }
  return results;
}

function* representations(kinds: readonly RequestKind[]): Generator<Omit<RequestResult, 'rounds'>> {
  for (const kind of kinds)
    for (const format of ['json', 'protobuf'] as const)
      for (const gzip of [false, true])
        for (const protocol of ['HTTP/1.1', 'HTTP/2'] as const) yield { kind, format, gzip, protocol };
}

async function measureRound(system: SimulatedSystem, job: LoadJob): Promise<RequestResult['rounds'][number]> {
  const before = readProcessUsage(system.server.pid);
  const generator = [`${import.meta.dirname}/load/main.ts`, JSON.stringify(job)];
  const { stdout } = await promisify(execFile)(process.execPath, generator, {
    timeout: job.durationMs + 60_000,
  });
  const result = JSON.parse(stdout) as LoadResult;
  return {
    ...result,
    serverCpuMsPerRequest: (readProcessUsage(system.server.pid).cpuMs - before.cpuMs) / result.requests,
  };
}

interface Target {
  readonly NAMESPACE: string;
  readonly POD: string;
  readonly SELECTOR: string;
}

/** A pod of the cluster to ask for, its namespace, and a selector of it and its likes. */
async function chooseTarget({ kubectl }: SimulatedSystem): Promise<Target> {
  const { stdout } = await kubectl.run(['get', '--raw', '/apis/metrics.k8s.io/v1beta1/pods']);
  const { items } = JSON.parse(stdout) as { items: { metadata: PodMetadata }[] };
  const [pod] = items;
  if (pod === undefined) throw new Error('Cannot measure requests: no pod has metrics');
  const { namespace, name, labels } = pod.metadata;
  return { NAMESPACE: namespace, POD: name, SELECTOR: encodeURIComponent(`app=${labels?.app}`) };
}

interface PodMetadata {
  readonly namespace: string;
  readonly name: string;
  readonly labels?: { readonly app?: string };
}

/** The certificate with which the only user of a kubeconfig identifies itself, as PEM. */
async function readClientCertificate(kubeconfig: string): Promise<LoadJob['tls']> {
  const { users } = parse(await readFile(kubeconfig, 'utf8')) as {
    users: { user: Record<string, string> }[];
  };
  const decode = (name: string) => Buffer.from(users[0]?.user[name] ?? '', 'base64').toString();
  return { cert: decode('client-certificate-data'), key: decode('client-key-data') };
}
