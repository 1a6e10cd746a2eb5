import { Agent } from 'node:https';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestHttps } from '#spec/support/https-request.ts';
import type { SimulatedSystem } from '#spec/support/simulated-system.ts';
import type { ClientCertificate } from './credentials.ts';

const POLL_INTERVAL_MS = 50;
const SERIES = 'metrics_server_manager_tick_duration_seconds_count';

/**
 * Waits until a server has collected and serves new metrics. Polls a series that the reference exposes, too, and that
 * does not make the server encode metrics, as polling the metrics would.
 *
 * @throws Error after `timeoutMs`
 */
export async function untilNextCycle(
  { serverOrigin }: Pick<SimulatedSystem, 'serverOrigin'>,
  tls: ClientCertificate,
  timeoutMs: number,
): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  const agent = new Agent({ keepAlive: true, ...tls, rejectUnauthorized: false });
  using stack = new DisposableStack();
  stack.defer(() => agent.destroy());
  const check = async () => cyclesIn((await requestHttps(`${serverOrigin}/metrics`, { agent })).body);
  const before = await check();
  while ((await check()) === before) {
    if (performance.now() > deadlineMs) throw new Error(`The server collected nothing in ${timeoutMs} ms`);
    await sleep(POLL_INTERVAL_MS);
  }
}

/** Number of cycles in an exposition. */
export function cyclesIn(exposition: string): number {
  const count = new RegExp(`^${SERIES} (\\d+)$`, 'm').exec(exposition)?.[1];
  if (count === undefined) throw new Error(`Cannot count cycles: the server has no series ${SERIES}`);
  return Number(count);
}
