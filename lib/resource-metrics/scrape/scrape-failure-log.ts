import { FailureLog } from '#lib/telemetry/failure-log.ts';
import { LineBudget } from '#lib/telemetry/line-budget.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ScrapeError } from './scrape-error.ts';
import type { ScrapeOutcome } from './scraper.ts';

const HOUR_MS = 3_600_000;

/** Of one node in an hour: enough for a failure that comes, changes, and goes. */
const LINES_AN_HOUR = 6;

interface NodeState {
  readonly budget: LineBudget;
  readonly failures: FailureLog;
  /** Whether the latest response could not be read completely. */
  isPartial: boolean;
}

/**
 * Logs when a node's scrapes begin to fail, when the cause changes, hourly while they do, and when they succeed again;
 * of a node that changes on and on a few lines an hour, and how many changes it does not report.
 */
export class ScrapeFailureLog {
  readonly #logger: Logger;
  readonly #clock: Clock;
  /** Of nodes that there is anything to tell of. */
  readonly #states = new Map<string, NodeState>();

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  record({ nodeName, error, ignored }: ScrapeOutcome): void {
    const isFine = !error && ignored.length === 0;
    const known = this.#states.get(nodeName);
    if (!known && isFine) return;
    const state = known ?? this.#newState();
    if (error) state.failures.fail(error, { node: nodeName, address: error.address });
    else {
      state.failures.succeed({ node: nodeName });
      this.#recordIgnored(nodeName, ignored, state);
    }
    if (isFine && !state.failures.isFailing && state.budget.isUntouched) this.#states.delete(nodeName);
    else this.#states.set(nodeName, state);
  }

  /** Drops what is known of nodes that are gone. */
  retain(isLive: (nodeName: string) => boolean): void {
    for (const nodeName of this.#states.keys()) if (!isLive(nodeName)) this.#states.delete(nodeName);
  }

  #newState(): NodeState {
    const [clock, budget] = [this.#clock, new LineBudget(this.#clock, LINES_AN_HOUR)];
    const failures = new FailureLog({
      logger: this.#logger,
      failing: (error) => (error as ScrapeError).message,
      recovered: 'Node is scraped again',
      causeOf: (error) => (error as ScrapeError).kind,
      pace: { clock, budget, remindAfterMs: HOUR_MS },
    });
    return { budget, failures, isPartial: false };
  }

  #recordIgnored(node: string, [what, ...others]: readonly string[], state: NodeState): void {
    const hasBegun = what !== undefined && !state.isPartial;
    state.isPartial = what !== undefined;
    const line = hasBegun ? state.budget.take(true) : undefined;
    if (!line) return;
    const fields = { node, what, others: others.length, ...line };
    this.#logger.warning("Left out what cannot be read of a kubelet's response", fields);
  }
}
