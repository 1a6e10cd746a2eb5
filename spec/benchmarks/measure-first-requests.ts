import { performance } from 'node:perf_hooks';
import { Client } from 'undici';
import type { SimulatedSystem } from '#spec/support/simulated-system.ts';
import { readAdminAccess } from './credentials.ts';
import { ask, type LoadRequest, PROBE } from './load/ask.ts';
import { type FirstRequest, planFirstRequests } from './plan-first-requests.ts';
import type { BenchmarkOptions } from './run-scenario.ts';
import { MEDIA_TYPES, RESOLUTION_MS } from './scenarios.ts';
import { pathFor, type Target } from './targets.ts';
import { untilNextCycle } from './until-next-cycle.ts';

/** How long the first responses after cycles took, and the same requests asked again. */
export interface FirstRequestResult extends FirstRequest {
  /** Bytes of the first response's body as they went over the wire. */
  readonly bodyBytes: number;
  /** Where nobody had asked in the cycle before. */
  readonly firstMs: readonly number[];
  readonly againMs: readonly number[];
  /** The first after the next cycle, of what was asked for in this one. */
  readonly expectedMs: readonly number[];
}

/**
 * Asks right after a cycle what nobody has asked for since, and after the next one the same again, compressed, over one HTTP/2
 * connection that is kept, as the aggregator asks.
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
        await ask(client, PROBE); // a lost connection is made again by this
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
  const bodyBytes = await ask(client, request);
  return { bodyBytes, ms: performance.now() - sentMs };
}
