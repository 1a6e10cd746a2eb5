import type { LogFields, Logger } from './logger.ts';

/** What the log says of something that may fail again and again. */
export interface FailureLogOptions {
  readonly logger: Logger;
  /** When it begins to fail. */
  readonly failing: string;
  /** When it succeeds again; nothing where it is absent. */
  readonly recovered?: string;
  /** What an error comes from: another cause is logged, too. By default nothing is told apart. */
  readonly causeOf?: (error: unknown) => string;
  /** What a mere warning says instead, of errors that somebody may have meant to bring about. */
  readonly warningOf?: (error: unknown) => string | undefined;
}

/** Logs once that something fails, and once that it succeeds again, however often it is tried. */
export class FailureLog {
  readonly #options: FailureLogOptions;
  /** Of the last attempt; `undefined` where it succeeded. */
  #cause: string | undefined;

  constructor(options: FailureLogOptions) {
    this.#options = options;
  }

  /** Whether the last attempt failed. */
  get isFailing(): boolean {
    return this.#cause !== undefined;
  }

  fail(error: unknown, fields?: LogFields): void {
    const { logger, failing, causeOf, warningOf } = this.#options;
    const cause = causeOf?.(error) ?? '';
    if (cause === this.#cause) return;
    this.#cause = cause;
    const warning = warningOf?.(error);
    if (warning === undefined) logger.error(failing, error, fields);
    else logger.warning(warning, fields);
  }

  succeed(fields?: LogFields): void {
    const { logger, recovered } = this.#options;
    if (this.isFailing && recovered !== undefined) logger.info(recovered, fields);
    this.#cause = undefined;
  }
}
