import { eventually } from './eventually.ts';
import type { RunningServer } from './running-server.ts';

/** The metric resolution that the server must have. */
export const RESOLUTION_MS = 15_000;

const SECOND_CYCLE_AFTER_MS = 12_000;
const JITTER_PER_NODE_MS = 8;
const TIMEOUT_MS = 1_000;

/** Number of scrapes so far, by result. */
export interface ScrapeCounts {
  readonly succeeded: number;
  readonly failed: number;
}

/** Runs the cycles of a server, whose resolution is {@link RESOLUTION_MS}, one by one. */
export class ScrapeCycles {
  readonly #server: RunningServer;
  readonly #jitterMs: number;
  #dueMs: number;
  #count = 0;

  private constructor(server: RunningServer, nodes: number) {
    this.#server = server;
    this.#jitterMs = nodes * JITTER_PER_NODE_MS;
    this.#dueMs = server.clock.monotonicMs();
  }

  /** Waits until the server has cached its nodes; then its first cycle begins, without advancing the clock. */
  static async of(server: RunningServer, nodes: number): Promise<ScrapeCycles> {
    await eventually(async () => (await server.get('/readyz/metric-informer-sync')).status === 200);
    return new ScrapeCycles(server, nodes);
  }

  /**
   * Advances to the next cycle until its first responses are served: jitter and a second after its start.
   *
   * @param healthy number of kubelets that must have responded by then
   * @returns the wall-clock time at which the cycle began
   */
  async next(healthy: number): Promise<number> {
    const { clock } = this.#server;
    if (this.#count > 0) this.#dueMs += this.#count === 1 ? SECOND_CYCLE_AFTER_MS : RESOLUTION_MS;
    this.#count++;
    const { succeeded } = await this.counts();
    await clock.advance(this.#dueMs - clock.monotonicMs());
    const beganAtMs = clock.nowMs();
    await clock.advance(this.#jitterMs);
    await eventually(async () => (await this.counts()).succeeded >= succeeded + healthy);
    await clock.advance(TIMEOUT_MS);
    return beganAtMs;
  }

  /**
   * Waits until `count` scrapes in total have failed.
   *
   * @param takesTime whether the clock must advance for that
   */
  async failed(count: number, { takesTime }: { readonly takesTime: boolean }): Promise<void> {
    const { clock } = this.#server;
    const haveFailed = async () => (await this.counts()).failed >= count;
    if (!takesTime) return await eventually(haveFailed);
    const endMs = this.#dueMs + (this.#count === 1 ? SECOND_CYCLE_AFTER_MS : RESOLUTION_MS);
    while (!(await haveFailed())) {
      if (clock.monotonicMs() >= endMs - 500) throw new Error(`fewer than ${count} kubelets failed in time`);
      await clock.advance(500); // lets sockets run between two steps
    }
  }

  async counts(): Promise<ScrapeCounts> {
    const { body } = await this.#server.get('/metrics');
    const count = (success: boolean) =>
      Number(
        new RegExp(`^metrics_server_kubelet_request_total\\{success="${success}"\\} (\\d+)$`, 'm').exec(
          body,
        )?.[1] ?? 0,
      );
    return { succeeded: count(true), failed: count(false) };
  }
}
