import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import { readProcessUsage } from '../process-usage.ts';
import { quantile } from '../quantile.ts';
import { ask, PROBE } from './ask.ts';

/** What is spoken with the server; connections are kept alive by both. */
export type Protocol = 'HTTP/1.1' | 'HTTP/2';

/** What to ask, of whom, and how often at once. */
export interface LoadJob {
  readonly origin: string;
  readonly path: string;
  /** Asked one after the other in its place. */
  readonly paths?: readonly string[];
  readonly mediaType: string;
  /** Whether responses may come compressed. */
  readonly gzip: boolean;
  readonly protocol: Protocol;
  /** Each keeps one connection and asks again as soon as it has its response. */
  readonly clients: number;
  /** Or at times of its own, so far apart; those that pass while it waits for a response it makes up for without a pause. */
  readonly everyMs?: number;
  /** For how long it is asked without a pause and without measuring first, so that neither side runs code for the first time. */
  readonly warmUpMs?: number;
  readonly durationMs: number;
  /** The server's process, where what it spends meanwhile is to be told. */
  readonly serverPid?: number;
  /** What the clients identify themselves with. */
  readonly tls: { readonly cert: string; readonly key: string };
}

/** What came of one job. Latencies run from sending the request to the last byte of the response. */
export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Bytes of one response's body as they went over the wire. */
  readonly bodyBytes: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** CPU time of the process of the job's `serverPid`. */
  readonly serverCpuMs?: number;
}

/**
 * Asks for `durationMs` and measures; connections are made beforehand.
 *
 * @throws Error at the first response other than 200.
 */
export async function generateLoad(job: LoadJob): Promise<LoadResult> {
  // The server's certificate may be one that it made for itself: this measures, it does not judge.
  const connect = { ...job.tls, rejectUnauthorized: false };
  const options = { connect, allowH2: job.protocol === 'HTTP/2' };
  const clients = Array.from({ length: job.clients }, () => new Client(job.origin, options));
  try {
    await Promise.all(clients.map((client) => ask(client, PROBE)));
    const { warmUpMs, everyMs: _, ...unmeasured } = job;
    if (warmUpMs) await measure(clients, { ...unmeasured, durationMs: warmUpMs });
    return await measure(clients, job);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

async function measure(clients: readonly Client[], job: LoadJob): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  let bodyBytes = 0;
  const { paths = [job.path], everyMs = 0, serverPid } = job;
  const serverCpuMs = () => (serverPid === undefined ? 0 : readProcessUsage(serverPid).cpuMs);
  const spentBeforeMs = serverCpuMs();
  let asked = 0;
  const startMs = performance.now();
  const askOn = async (client: Client, index: number): Promise<void> => {
    // To go on from when it was late would leave all clients that waited together asking together from then on.
    const nextMs = (dueMs: number) => (everyMs > 0 ? dueMs + everyMs : performance.now() - startMs);
    // Counted from the start: a sum with the moment of the start is rounded, and one more could seem due before the end.
    for (let dueMs = (index * everyMs) / clients.length; dueMs < job.durationMs; dueMs = nextMs(dueMs)) {
      const waitMs = startMs + dueMs - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      const path = paths[asked++ % paths.length] ?? job.path;
      const sentMs = performance.now();
      bodyBytes = await ask(client, { ...job, path });
      latenciesMs.push(performance.now() - sentMs);
    }
  };
  await Promise.all(clients.map(askOn));
  const elapsedMs = performance.now() - startMs;
  const spentMs = serverCpuMs() - spentBeforeMs;
  latenciesMs.sort((a, b) => a - b);
  return {
    ...(serverPid !== undefined && { serverCpuMs: spentMs }),
    requests: latenciesMs.length,
    requestsPerSecond: (latenciesMs.length / elapsedMs) * 1000,
    bodyBytes,
    medianMs: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    maxMs: quantile(latenciesMs, 1),
  };
}
