import { FailureLog } from '#lib/telemetry/failure-log.ts';
import { LineBudget } from '#lib/telemetry/line-budget.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ScrapeError } from './scrape-error.ts';
import type { ScrapeOutcome } from './scraper.ts';

const HOUR_MS = 3_600_000;

/** Per node; enough for a failure that starts, changes and ends. */
const MAX_LINES_PER_HOUR = 6;

interface NodeState {
  readonly budget: LineBudget;
  readonly failures: FailureLog;
  /** Whether the last response had unreadable parts. */
  isPartial: boolean;
}

/**
 * Logs when scrapes of a node start to fail, when the cause changes, hourly while they fail, and when they succeed
 * again. Limits the lines of a node per hour, and counts the changes that are not logged.
 */
export class ScrapeFailureLog {
  readonly #logger: Logger;
  readonly #clock: Clock;
  /** Only of nodes with something to log. */
  readonly #states = new Map<string, NodeState>();

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  record({ nodeName, error, ignored }: ScrapeOutcome): void {
    const isHealthy = !error && ignored.length === 0;
    const existing = this.#states.get(nodeName);
    if (!existing && isHealthy) return;
    const state = existing ?? this.#newState();
    if (error) state.failures.fail(error, { node: nodeName, address: error.address });
    else {
      state.failures.succeed({ node: nodeName });
      this.#recordIgnored(nodeName, ignored, state);
    }
    if (isHealthy && !state.failures.isFailing && state.budget.isUntouched) this.#states.delete(nodeName);
    else this.#states.set(nodeName, state);
  }

  /** Removes nodes that are no longer live. */
  retain(isLive: (nodeName: string) => boolean): void {
    for (const nodeName of this.#states.keys()) if (!isLive(nodeName)) this.#states.delete(nodeName);
  }

  #newState(): NodeState {
    const [clock, budget] = [this.#clock, new LineBudget(this.#clock, MAX_LINES_PER_HOUR)];
    const failures = new FailureLog({
      logger: this.#logger,
      failing: (error) => (error as ScrapeError).message,
      recovered: 'Scrapes of node succeed again',
      causeOf: (error) => (error as ScrapeError).kind,
      pace: { clock, budget, remindAfterMs: HOUR_MS },
    });
    return { budget, failures, isPartial: false };
  }

  #recordIgnored(node: string, [part, ...others]: readonly string[], state: NodeState): void {
    const hasBegun = part !== undefined && !state.isPartial;
    state.isPartial = part !== undefined;
    const line = hasBegun ? state.budget.take(true) : undefined;
    if (!line) return;
    const fields = { node, part, others: others.length, ...line };
    this.#logger.warning('Ignoring unreadable parts of kubelet response', fields);
  }
}
