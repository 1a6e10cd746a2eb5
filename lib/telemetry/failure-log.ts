import type { LogFields, Logger } from './logger.ts';

/** What the log says of something that may fail again and again. */
export interface FailureLogOptions {
  readonly logger: Logger;
  /** When it begins to fail. */
  readonly failing: string;
  /** When it succeeds again; nothing where it is absent. */
  readonly recovered?: string;
}

/** Logs once that something fails, and once that it succeeds again, however often it is tried. */
export class FailureLog {
  readonly #options: FailureLogOptions;
  #isFailing = false;

  constructor(options: FailureLogOptions) {
    this.#options = options;
  }

  /** Whether the last attempt failed. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  fail(error: unknown, fields?: LogFields): void {
    const { logger, failing } = this.#options;
    if (!this.#isFailing) logger.error(failing, error, fields);
    this.#isFailing = true;
  }

  succeed(fields?: LogFields): void {
    const { logger, recovered } = this.#options;
    if (this.#isFailing && recovered !== undefined) logger.info(recovered, fields);
    this.#isFailing = false;
  }
}
