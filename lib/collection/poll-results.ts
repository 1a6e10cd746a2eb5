import { EmptyResponseError, type Sample } from '#lib/sources/sample.ts';

import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { LineBudget } from '#lib/telemetry/line-budget.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';

/** The last successful response of a source. */
export interface Reading {
  readonly samples: readonly Sample[];
  /** Remarks for people, without secrets. */
  readonly notes: readonly string[];
  /** When the response was received, by the wall clock and by the monotonic clock. */
  readonly receivedAtMs: number;
  readonly receivedAtMonotonicMs: number;
}

/** A series of consecutive failures. */
export interface PollFailure {
  readonly error: Error;
  /** Time of the first failure of the series, by the wall clock. */
  readonly sinceMs: number;
  readonly count: number;
}

/** Statistics of the queries of a poll. */
export interface PollRecord {
  /** Duration of the last query. */
  readonly durationMs: number;
  /** Delay of the last query after its due time. */
  readonly latenessMs: number;
  readonly failedCount: number;
  /** Number of responses without a value, whether that is an error or not. */
  readonly emptyCount: number;
}

export type PollOutcome =
  | { readonly samples: readonly Sample[]; readonly notes: readonly string[] }
  | { readonly error: Error };

interface PollResultsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Limits the log lines, together with those of other polls. By default each change is logged once. */
  readonly lines?: LineBudget | undefined;
}

const REMIND_AFTER_MS = 3_600_000;

/** The results of one poll. */
export class PollResults {
  readonly #clock: Clock;
  readonly #description: string;
  readonly #failures: FailureLog;
  #pollCount = 0;
  #record: PollRecord | undefined;
  #reading: Reading | undefined;
  #failure: PollFailure | undefined;

  constructor(description: string, { clock, logger, lines }: PollResultsOptions) {
    this.#clock = clock;
    this.#description = description;
    this.#failures = new FailureLog({
      logger,
      failing: 'Cannot query source; retrying',
      recovered: 'Queries of source succeed again',
      ...(lines && { pace: { clock, budget: lines, remindAfterMs: REMIND_AFTER_MS } }),
    });
  }

  /** The last reading, regardless of its age. */
  get reading(): Reading | undefined {
    return this.#reading;
  }

  /** `undefined` if the last query succeeded, or none has completed. */
  get failure(): PollFailure | undefined {
    return this.#failure;
  }

  /** Number of completed queries, including failed ones. */
  get pollCount(): number {
    return this.#pollCount;
  }

  /** `undefined` before the first query has completed. */
  get record(): PollRecord | undefined {
    return this.#record;
  }

  add(outcome: PollOutcome, took: Pick<PollRecord, 'durationMs' | 'latenessMs'>): void {
    const error = 'error' in outcome ? outcome.error : undefined;
    if ('error' in outcome) this.#fail(outcome.error);
    else this.#succeed(outcome);
    this.#pollCount++;
    const { failedCount = 0, emptyCount = 0 } = this.#record ?? {};
    this.#record = {
      ...{ ...took, failedCount: failedCount + (error ? 1 : 0) },
      emptyCount: emptyCount + (this.#isEmpty(error) ? 1 : 0),
    };
  }

  #isEmpty(error: Error | undefined): boolean {
    if (error) return error instanceof EmptyResponseError;
    return this.#reading?.samples.some(({ isPlaceholder }) => isPlaceholder) ?? false;
  }

  #succeed({ samples, notes }: Extract<PollOutcome, { readonly samples: unknown }>): void {
    this.#reading = {
      ...{ samples, notes },
      receivedAtMs: this.#clock.nowMs(),
      receivedAtMonotonicMs: this.#clock.monotonicMs(),
    };
    this.#failures.succeed({ query: this.#description });
    this.#failure = undefined;
  }

  #fail(error: Error): void {
    this.#failures.fail(error, { query: this.#description });
    const { sinceMs = this.#clock.nowMs(), count = 0 } = this.#failure ?? {};
    this.#failure = { error, sinceMs, count: count + 1 };
  }
}
