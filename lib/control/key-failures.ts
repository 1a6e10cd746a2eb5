import { describeError, type Logger } from '#lib/telemetry/logger.ts';

/** Whose failures are told, and where. */
export interface KeyFailuresOptions {
  readonly controller: string;
  readonly logger: Logger;
}

/** Of more keys than these that fail at once, the others are not told. */
const MAX_NAMED = 1000;

/** Tells of each key once that it fails, once whenever the reason changes, and once that it is well again. */
export class KeyFailures {
  readonly #options: KeyFailuresOptions;
  readonly #reasons = new Map<string, string>();

  constructor(options: KeyFailuresOptions) {
    this.#options = options;
  }

  fail(key: string, error: unknown): void {
    const { controller, logger } = this.#options;
    const reason = describeError(error);
    const known = this.#reasons.get(key);
    if (known === reason) return;
    if (known === undefined && this.#reasons.size >= MAX_NAMED) return;
    this.#reasons.set(key, reason);
    logger.error('Cannot reconcile; it is tried again', error, { controller, key });
  }

  succeed(key: string): void {
    const { controller, logger } = this.#options;
    if (this.#reasons.delete(key)) logger.info('Reconciled again', { controller, key });
  }
}
