import { performance } from 'node:perf_hooks';
import { Client } from 'undici';
import type { SimulatedSystem } from '#spec/support/simulated-system.ts';
import { readAdminAccess } from './credentials.ts';
import { type LoadRequest, PROBE, send } from './load/send.ts';
import { type FirstRequest, planFirstRequests } from './plan-first-requests.ts';
import type { BenchmarkOptions } from './run-scenario.ts';
import { MEDIA_TYPES, RESOLUTION_MS } from './scenarios.ts';
import { pathFor, type Target } from './targets.ts';
import { untilNextCycle } from './until-next-cycle.ts';

/** Latencies of the first responses after cycles, and of repeated requests. */
export interface FirstRequestResult extends FirstRequest {
  /** Size of the first response's body as transferred. */
  readonly bodyBytes: number;
  /** First requests in a cycle, without such requests in the previous cycle. */
  readonly firstMs: readonly number[];
  readonly againMs: readonly number[];
  /** First requests in the next cycle, after such requests in the previous cycle. */
  readonly expectedMs: readonly number[];
}

/**
 * Sends requests right after a cycle that were not sent in the previous one, and the same after the next cycle:
 * compressed, over one persistent HTTP/2 connection, like the aggregator.
 */
export async function measureFirstRequests(
  system: SimulatedSystem,
  target: Target,
  options: BenchmarkOptions,
): Promise<FirstRequestResult[]> {
  const { tls } = await readAdminAccess(system);
  const client = new Client(system.serverOrigin, {
    connect: { ...tls, rejectUnauthorized: false },
    allowH2: true,
  });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => client.close());
  const results = new Map<FirstRequest, FirstRequestResult>();
  const plan = planFirstRequests(options.kinds, options.formats);
  for (let round = 0; round < options.firsts; round++) {
    for (const together of plan) {
      options.onProgress(`first ${together.map(({ kind, format }) => `${kind.name}, ${format}`).join('; ')}`);
      const begin = async () => {
        await untilNextCycle(system, tls, 3 * RESOLUTION_MS);
        await send(client, PROBE); // reconnects if the connection was lost
      };
      const requestOf = ({ kind, format }: FirstRequest): LoadRequest => ({
        path: pathFor(kind.path, target),
        mediaType: MEDIA_TYPES[format],
        gzip: true,
      });
      await begin();
      for (const planned of together) {
        const first = await timed(client, requestOf(planned));
        const again = await timed(client, requestOf(planned));
        const { firstMs = [], againMs = [], expectedMs = [] } = results.get(planned) ?? {};
        results.set(planned, {
          ...planned,
          bodyBytes: first.bodyBytes,
          firstMs: [...firstMs, first.ms],
          againMs: [...againMs, again.ms],
          expectedMs,
        });
      }
      await begin();
      for (const planned of together) {
        const { ms } = await timed(client, requestOf(planned));
        const result = results.get(planned);
        if (result) results.set(planned, { ...result, expectedMs: [...result.expectedMs, ms] });
      }
    }
  }
  return [...results.values()];
}

async function timed(client: Client, request: LoadRequest) {
  const sentMs = performance.now();
  const bodyBytes = await send(client, request);
  return { bodyBytes, ms: performance.now() - sentMs };
}
