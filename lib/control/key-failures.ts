import { nameOfKey } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import { describeError, type Logger } from '#lib/telemetry/logger.ts';

/** Whose failures are told, and where. */
export interface KeyFailuresOptions {
  readonly controller: string;
  readonly logger: Logger;
}

/** Of more keys than these that fail at once, the others are not told; of one namespace, no more than it leaves free to others. */
const MAX_NAMED = 1000;

/** Tells of each key once that it fails, once whenever the reason changes, and once that it is well again. */
export class KeyFailures {
  readonly #options: KeyFailuresOptions;
  readonly #failing = new Map<string, FailureLog>();
  /** How many of them each namespace has. */
  readonly #counts = new Map<string, number>();

  constructor(options: KeyFailuresOptions) {
    this.#options = options;
  }

  fail(key: string, error: unknown): void {
    const { controller, logger } = this.#options;
    let log = this.#failing.get(key);
    if (!log) {
      const count = this.#counts.get(namespaceOf(key)) ?? 0;
      if (count >= MAX_NAMED - this.#failing.size) return;
      this.#counts.set(namespaceOf(key), count + 1);
      const failing = 'Cannot reconcile; it is tried again';
      log = new FailureLog({ logger, failing, recovered: 'Reconciled again', causeOf: describeError });
      this.#failing.set(key, log);
    }
    log.fail(error, { controller, key });
  }

  /** Forgets all keys but these: what is gone, or no longer tried, fails no more. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of this.#failing.keys()) if (!keys.has(key)) this.#forget(key);
  }

  succeed(key: string): void {
    this.#failing.get(key)?.succeed({ controller: this.#options.controller, key });
    this.#forget(key);
  }

  #forget(key: string): void {
    if (!this.#failing.delete(key)) return;
    const count = (this.#counts.get(namespaceOf(key)) ?? 0) - 1;
    if (count > 0) this.#counts.set(namespaceOf(key), count);
    else this.#counts.delete(namespaceOf(key));
  }
}

function namespaceOf(key: string): string {
  return nameOfKey(key).namespace ?? '';
}
