import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import { readProcessUsage } from '../process-usage.ts';
import { quantile } from '../quantile.ts';
import { PROBE, send } from './send.ts';

/** Protocol of the connections, which both sides keep alive. */
export type Protocol = 'HTTP/1.1' | 'HTTP/2';

/** Server, requests, concurrency and duration of a load. */
export interface LoadJob {
  readonly origin: string;
  readonly path: string;
  /** Requested round robin in place of `path`. */
  readonly paths?: readonly string[];
  readonly mediaType: string;
  /** Whether to accept compressed responses. */
  readonly gzip: boolean;
  readonly protocol: Protocol;
  /** Number of clients. Each has one connection, and sends a request as soon as it has the previous response. */
  readonly clients: number;
  /**
   * Interval at which each client sends requests instead. Intervals missed during a slow response are made up for
   * without a pause.
   */
  readonly everyMs?: number;
  /** Duration of unmeasured requests at full speed beforehand, so that both sides run optimized code. */
  readonly warmUpMs?: number;
  readonly durationMs: number;
  /** Process of the server, to report its CPU time. */
  readonly serverPid?: number;
  /** The clients' certificate and key. */
  readonly tls: { readonly cert: string; readonly key: string };
}

/** Result of a job. Latencies are from sending the request to the last byte of the response. */
export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Size of one response's body as transferred. */
  readonly bodyBytes: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** CPU time of the process `serverPid`. */
  readonly serverCpuMs?: number;
}

/**
 * Connects, then sends requests for `durationMs` and measures them.
 *
 * @throws Error at the first response other than 200
 */
export async function generateLoad(job: LoadJob): Promise<LoadResult> {
  // Accepts self-signed certificates: the server's identity is not under test.
  const connect = { ...job.tls, rejectUnauthorized: false };
  const options = { connect, allowH2: job.protocol === 'HTTP/2' };
  const clients = Array.from({ length: job.clients }, () => new Client(job.origin, options));
  try {
    await Promise.all(clients.map((client) => send(client, PROBE)));
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
  let requested = 0;
  const startMs = performance.now();
  const requestOn = async (client: Client, index: number): Promise<void> => {
    // Rescheduling from a late response would synchronize all clients that waited at the same time.
    const nextMs = (dueMs: number) => (everyMs > 0 ? dueMs + everyMs : performance.now() - startMs);
    // Relative to the start: adding the start time would round, and could make one request too many due before the end.
    for (let dueMs = (index * everyMs) / clients.length; dueMs < job.durationMs; dueMs = nextMs(dueMs)) {
      const waitMs = startMs + dueMs - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      const path = paths[requested++ % paths.length] ?? job.path;
      const sentMs = performance.now();
      bodyBytes = await send(client, { ...job, path });
      latenciesMs.push(performance.now() - sentMs);
    }
  };
  await Promise.all(clients.map(requestOn));
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
