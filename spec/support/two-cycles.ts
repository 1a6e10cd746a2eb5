import type { RunningServer } from './running-server.ts';

/** Longer than the jitter of small clusters; far shorter than any timeout. */
const JITTER_MS = 400;
const TIMEOUT_MS = 1000;

/**
 * Runs the first two cycles, after which pods are served.
 *
 * @param healthy number of nodes that respond
 */
export async function twoCycles(server: RunningServer, healthy: number): Promise<void> {
  await server.clock.advance(JITTER_MS);
  await server.scraped(healthy);
  await server.clock.advance(12_000 - JITTER_MS);
  await server.clock.advance(JITTER_MS);
  await server.scraped(2 * healthy);
  await server.clock.advance(TIMEOUT_MS);
}
