import type { Clock } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { LineBudget } from './line-budget.ts';
import type { LogFields, Logger } from './logger.ts';

/** What the log says of something that may fail again and again. */
export interface FailureLogOptions {
  readonly logger: Logger;
  /** When it begins to fail; or what says all of an error, which is not told beside it then. */
  readonly failing: string | ((error: unknown) => string);
  /** When it succeeds again; nothing where it is absent. */
  readonly recovered?: string;
  /** What an error comes from: another cause is logged, too. By default nothing is told apart. */
  readonly causeOf?: (error: unknown) => string;
  /** What a mere warning says instead, of errors that somebody may have meant to bring about. */
  readonly warningOf?: (error: unknown) => string | undefined;
  /** For what fails for long or changes often; by default nothing is said twice, and every change at once. */
  readonly pace?: FailurePace;
}

/** How often failures are told of. Lines then say, too, for how long it has failed. */
export interface FailurePace {
  readonly clock: Clock;
  /** After how long it is said again that it still fails. */
  readonly remindAfterMs: number;
  readonly budget: LineBudget;
}

/** Logs once that something fails, and once that it succeeds again, however often it is tried. */
export class FailureLog {
  readonly #options: FailureLogOptions;
  /** Of the last attempt; `undefined` where it succeeded. */
  #cause: string | undefined;
  /** What the log says it is. */
  #loggedCause: string | undefined;
  #loggedAtMs = 0;
  #sinceMs = 0;
  #failedForMs = 0;

  constructor(options: FailureLogOptions) {
    this.#options = options;
  }

  /** Whether the last attempt failed, or the log says so still. */
  get isFailing(): boolean {
    return this.#cause !== undefined || this.#loggedCause !== undefined;
  }

  fail(error: unknown, fields?: LogFields): void {
    const { logger, failing, causeOf, warningOf } = this.#options;
    const line = this.#lineFor(causeOf?.(error) ?? '');
    if (!line) return;
    const told = { ...fields, ...line };
    const warning = warningOf?.(error);
    if (warning !== undefined) logger.warning(warning, told);
    else if (typeof failing === 'string') logger.error(failing, error, told);
    else logger.error(failing(error), undefined, told);
  }

  succeed(fields?: LogFields): void {
    const { logger, recovered } = this.#options;
    const line = this.#lineFor(undefined);
    if (line && recovered !== undefined) logger.info(recovered, { ...fields, ...line });
  }

  /** @returns what a line says beside; `undefined` where none is due */
  #lineFor(cause: string | undefined): LogFields | undefined {
    const { pace } = this.#options;
    const nowMs = pace?.clock.monotonicMs() ?? 0;
    const hasChanged = cause !== this.#cause;
    if (hasChanged && this.#cause === undefined) this.#sinceMs = nowMs;
    if (hasChanged && cause === undefined) this.#failedForMs = nowMs - this.#sinceMs;
    this.#cause = cause;
    const isReminderDue =
      pace !== undefined && cause !== undefined && nowMs - this.#loggedAtMs >= pace.remindAfterMs;
    if (cause === this.#loggedCause && !isReminderDue) {
      if (hasChanged) pace?.budget.skip();
      return undefined;
    }
    const isNew = this.#loggedCause === undefined && nowMs === this.#sinceMs;
    const line = pace ? pace.budget.take(hasChanged) : {};
    if (!line) return undefined;
    this.#loggedCause = cause;
    this.#loggedAtMs = nowMs;
    if (!pace) return line;
    if (cause === undefined) return { failedFor: inSeconds(this.#failedForMs), ...line };
    return isNew ? line : { failingFor: inSeconds(nowMs - this.#sinceMs), ...line };
  }
}

function inSeconds(durationMs: number): string {
  return formatDuration(Math.round(durationMs / 1000) * 1000);
}
