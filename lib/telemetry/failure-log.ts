import type { Clock } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { LineBudget } from './line-budget.ts';
import type { LogFields, Logger } from './logger.ts';

export interface FailureLogOptions {
  readonly logger: Logger;
  /**
   * Logged when an attempt fails. A function returns the complete message of an error, which is then not logged as a
   * separate field.
   */
  readonly failing: string | ((error: unknown) => string);
  /** Logged when an attempt succeeds again; by default nothing is logged. */
  readonly recovered?: string;
  /** Groups errors by cause: a change of cause is logged. By default, all errors have the same cause. */
  readonly causeOf?: (error: unknown) => string;
  /** The line of an error that needs another message or level, such as one that an operator may have intended. */
  readonly lineOf?: (error: unknown) => FailureLine | undefined;
  /**
   * For operations that fail for long or change often. By default, every change is logged at once and never repeated.
   */
  readonly pace?: LogPace;
}

/** Only lines of level `error` have the error as a field. */
interface FailureLine {
  readonly level: 'info' | 'warning' | 'error';
  readonly message: string;
}

/** Limits the rate of log lines; lines then include how long the failure lasts. */
interface LogPace {
  readonly clock: Clock;
  /** Repeats the line of a continuing failure after this time. */
  readonly remindAfterMs: number;
  readonly budget: LineBudget;
}

/** Logs when an operation starts to fail and when it succeeds again, not every attempt. */
export class FailureLog {
  readonly #options: FailureLogOptions;
  /** Cause of the last failed attempt; `undefined` after a success. */
  #cause: string | undefined;
  /** The cause last logged. */
  #loggedCause: string | undefined;
  #loggedAtMs = 0;
  #sinceMs = 0;
  #failedForMs = 0;

  constructor(options: FailureLogOptions) {
    this.#options = options;
  }

  /** Whether the last attempt failed, or its recovery has not been logged yet. */
  get isFailing(): boolean {
    return this.#cause !== undefined || this.#loggedCause !== undefined;
  }

  fail(error: unknown, fields?: LogFields): void {
    const { logger, failing, causeOf, lineOf } = this.#options;
    const line = this.#lineFor(causeOf?.(error) ?? '');
    if (!line) return;
    const details = { ...fields, ...line };
    const own = lineOf?.(error);
    if (own?.level === 'error') logger.error(own.message, error, details);
    else if (own) logger[own.level](own.message, details);
    else if (typeof failing === 'string') logger.error(failing, error, details);
    else logger.error(failing(error), undefined, details);
  }

  succeed(fields?: LogFields): void {
    const { logger, recovered } = this.#options;
    const line = this.#lineFor(undefined);
    if (line && recovered !== undefined) logger.info(recovered, { ...fields, ...line });
  }

  /** @returns additional fields of the line; `undefined` if no line is due */
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
