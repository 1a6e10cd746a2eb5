import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { SimulatedSystem } from '#spec/support/simulated-system.ts';
import { readAdminAccess } from './credentials.ts';
import type { LoadJob, LoadResult, Protocol } from './load/generate-load.ts';
import { readProcessUsage } from './process-usage.ts';
import type { BenchmarkOptions } from './run-scenario.ts';
import { type Format, MEDIA_TYPES, type RequestKind } from './scenarios.ts';
import { pathFor, type Target } from './targets.ts';

/** What one kind of request in one representation has cost, round by round. */
export interface RequestResult {
  readonly kind: RequestKind;
  readonly format: Format;
  readonly gzip: boolean;
  readonly protocol: Protocol;
  readonly rounds: readonly (LoadResult & { readonly serverCpuMsPerRequest: number })[];
}

/** Asks a server every chosen kind of question in every chosen representation, one after the other. */
export async function measureRequests(
  system: SimulatedSystem,
  target: Target,
  options: BenchmarkOptions,
): Promise<RequestResult[]> {
  const { tls } = await readAdminAccess(system);
  const results: RequestResult[] = [];
  if (options.rounds === 0) return results;
  for (const { kind, format, gzip, protocol } of representations(options)) {
    options.onProgress(`${kind.name}, ${format}${gzip ? ', gzip' : ''}, ${protocol}`);
    const job: LoadJob = {
      origin: system.serverOrigin,
      path: pathFor(kind.path, target),
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

function* representations({ kinds, formats }: BenchmarkOptions): Generator<Omit<RequestResult, 'rounds'>> {
  for (const kind of kinds)
    for (const format of formats)
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
