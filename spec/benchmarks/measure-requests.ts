import { join } from 'node:path';
import type { SimulatedSystem } from '#spec/support/simulated-system.ts';
import { readServingCertificate } from './baseline/read-serving-certificate.ts';
import { type Baseline, startBaseline } from './baseline/start-baseline.ts';
import type { ServerBeside } from './beside/spawn-beside.ts';
import { readAdminAccess } from './credentials.ts';
import type { LoadJob, LoadResult, Protocol } from './load/generate-load.ts';
import { type LoadRequest, PROBE } from './load/send.ts';
import { spawnLoad } from './load/spawn-load.ts';
import { readProcessUsage } from './process-usage.ts';
import { median } from './quantile.ts';
import type { BenchmarkOptions } from './run-scenario.ts';
import { type Format, MEDIA_TYPES, type RequestKind } from './scenarios.ts';
import { pathFor, type Target } from './targets.ts';

/** A kind of request in one format. */
export interface RequestForm {
  readonly kind: RequestKind;
  readonly format: Format;
  readonly gzip: boolean;
  readonly protocol: Protocol;
}

/** Cost of one round of requests. */
export type RequestRound = LoadResult & { readonly serverCpuMsPerRequest: number };

/** Rounds of one kind of request in one format. */
export interface RequestResult extends RequestForm {
  readonly rounds: readonly RequestRound[];
  /** Rounds of the baseline, which alternate with the server's; empty without a baseline. */
  readonly baselineRounds: readonly RequestRound[];
  /** Ratio of requests per second, server to baseline, by medians; `null` without a baseline. */
  readonly toBaseline: number | null;
  /** Rounds of the servers beside it, which alternate with the server's. */
  readonly beside: readonly { readonly command: string; readonly rounds: readonly RequestRound[] }[];
}

/**
 * Measures every selected kind of request in every selected format, one after the other, on a server and those beside
 * it.
 */
export async function measureRequests(
  system: SimulatedSystem,
  target: Target,
  options: BenchmarkOptions & { readonly servers: readonly ServerBeside[] },
): Promise<RequestResult[]> {
  const { tls } = await readAdminAccess(system);
  const results: RequestResult[] = [];
  const forms = [...requestForms(options)];
  if (options.rounds === 0 || forms.length === 0) return results;
  const requestOf = ({ kind, format, gzip }: RequestForm): LoadRequest => ({
    path: pathFor(kind.path, target),
    mediaType: MEDIA_TYPES[format],
    gzip,
  });
  await using baseline = options.baseline ? await startBaselineOf(system, forms.map(requestOf)) : undefined;
  const server = { origin: system.serverOrigin, pid: system.server.pid };
  for (const form of forms) {
    const { kind, format, gzip, protocol } = form;
    options.onProgress(`${kind.name}, ${format}${gzip ? ', gzip' : ''}, ${protocol}`);
    const job = { ...requestOf(form), protocol, clients: kind.clients, durationMs: options.roundMs, tls };
    const [rounds, baselineRounds]: [RequestRound[], RequestRound[]] = [[], []];
    const beside = options.servers.map(({ command }) => ({ command, rounds: [] as RequestRound[] }));
    while (rounds.length < options.rounds) {
      rounds.push(await measureRound(server, job));
      if (baseline) baselineRounds.push(await measureRound(baseline, job));
      for (const [index, { origin, program }] of options.servers.entries())
        beside[index]?.rounds.push(await measureRound({ origin, pid: program.pid }, job));
    }
    results.push({ ...form, rounds, baselineRounds, toBaseline: ratio(rounds, baselineRounds), beside });
  }
  return results;
}

function* requestForms({ kinds, formats }: BenchmarkOptions): Generator<RequestForm> {
  for (const kind of kinds)
    for (const format of formats)
      for (const gzip of [false, true])
        for (const protocol of ['HTTP/1.1', 'HTTP/2'] as const) yield { kind, format, gzip, protocol };
}

async function startBaselineOf(system: SimulatedSystem, requests: readonly LoadRequest[]): Promise<Baseline> {
  const { tls } = await readAdminAccess(system);
  return await startBaseline({
    origin: system.serverOrigin,
    tls,
    requests: [PROBE, ...requests],
    certificate: await readServingCertificate(join(system.folder, 'serving')),
  });
}

async function measureRound(
  { origin, pid }: { readonly origin: string; readonly pid: number },
  job: Omit<LoadJob, 'origin'>,
): Promise<RequestRound> {
  const before = readProcessUsage(pid);
  const result = await spawnLoad({ ...job, origin });
  return {
    ...result,
    serverCpuMsPerRequest: (readProcessUsage(pid).cpuMs - before.cpuMs) / result.requests,
  };
}

function ratio(rounds: readonly RequestRound[], baselineRounds: readonly RequestRound[]): number | null {
  const perSecond = (of: readonly RequestRound[]) => median(of.map((round) => round.requestsPerSecond));
  return baselineRounds.length > 0 ? perSecond(rounds) / perSecond(baselineRounds) : null;
}
