import type { HealthCheck } from '#lib/apiserver/health.ts';
import type { Logger } from '#lib/telemetry/logger.ts';

interface ReplicaWorkOptions {
  /** Names the health check, as in `/livez/NAME`. */
  readonly name: string;
  readonly logger: Logger;
  /** Runs until its signal aborts. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/**
 * Work of every replica, from its start until it is disposed. If it fails, the error is logged and `/livez` fails, so
 * that the replica is restarted: otherwise it would serve stale data.
 */
export class ReplicaWork implements AsyncDisposable {
  readonly #options: ReplicaWorkOptions;
  readonly #disposal = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #hasFailed = false;

  constructor(options: ReplicaWorkOptions) {
    this.#options = options;
  }

  get healthCheck(): HealthCheck {
    const { name } = this.#options;
    const check = () => (this.#hasFailed ? 'the work of this replica has failed; see the log' : undefined);
    return { name, endpoints: ['livez'], check };
  }

  start(): void {
    const { name, logger, run } = this.#options;
    const { signal } = this.#disposal;
    this.#running = run(signal).catch((error: unknown) => {
      if (signal.aborted) return;
      this.#hasFailed = true;
      logger.error('Work of this replica failed; failing /livez', error, { work: name });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal.abort(new Error('program is shutting down'));
    await this.#running;
  }
}
