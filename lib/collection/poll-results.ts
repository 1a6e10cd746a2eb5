import { EmptyResponseError, type Sample } from '#lib/sources/sample.ts';

import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { LineBudget } from '#lib/telemetry/line-budget.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';

/** What a source told last. */
export interface Reading {
  readonly samples: readonly Sample[];
  /** What else is to be known of it, for people. */
  readonly notes: readonly string[];
  /** When the response was there, by the wall clock and by the monotonic one. */
  readonly receivedAtMs: number;
  readonly receivedAtMonotonicMs: number;
}

/** How a source fails, for as long as it does. */
export interface PollFailure {
  readonly error: Error;
  /** When the first of the failures in a row was seen, by the wall clock. */
  readonly sinceMs: number;
  readonly count: number;
}

/** How requests have gone, for those who look at the program. */
export interface PollRecord {
  /** How long the last request took. */
  readonly durationMs: number;
  /** How much later than it was due the last request began. */
  readonly latenessMs: number;
  /** How many requests have failed so far. */
  readonly failedCount: number;
  /** How many responses so far had no value, whether that is an error or not. */
  readonly emptyCount: number;
}

/** What came of one request: what was told, or why nothing was. */
export type PollOutcome =
  | { readonly samples: readonly Sample[]; readonly notes: readonly string[] }
  | { readonly error: Error };

/** Where the failures of a query are told. */
export interface PollResultsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Bounds its lines, together with others; by default each change is told, and nothing twice. */
  readonly lines?: LineBudget | undefined;
}

const REMIND_AFTER_MS = 3_600_000;

/** What has come of the requests of one query so far. */
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
      failing: 'A source fails; it is asked again',
      recovered: 'A source responds again',
      ...(lines && { pace: { clock, budget: lines, remindAfterMs: REMIND_AFTER_MS } }),
    });
  }

  /** What was told last, however old it is. */
  get reading(): Reading | undefined {
    return this.#reading;
  }

  /** `undefined` while the last request succeeded, and before the first has ended. */
  get failure(): PollFailure | undefined {
    return this.#failure;
  }

  /** How many requests have ended, with a result or without. */
  get pollCount(): number {
    return this.#pollCount;
  }

  /** `undefined` before the first request has ended. */
  get record(): PollRecord | undefined {
    return this.#record;
  }

  /** Takes in what came of a request. */
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

  /** Whether the last response had no value. */
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
