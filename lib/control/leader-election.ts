import { Gauge, type Registry } from 'prom-client';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { isAlreadyExists, isConflict } from '#lib/kubernetes/client/api-error.ts';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { LeaseLock } from './lease.ts';

/** What an election is about, and who stands in it. */
interface LeaderElectionOptions {
  /** Not the one that controllers use: its rate limit must not cost the lease. */
  readonly api: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Of this process alone: one that starts again has another. */
  readonly identity: string;
  /** For how long others leave a holder alone that they do not hear of; by default 15 s. */
  readonly leaseDurationMs?: number;
  /** For how long a holder that cannot renew goes on acting; shorter than that; by default 10 s. */
  readonly renewDeadlineMs?: number;
  /** How often the lease is renewed, or looked at; by default every 2 s. */
  readonly retryPeriodMs?: number;
  /** A number in [0, 1), so that candidates do not all try at once; by default `Math.random`. */
  readonly random?: () => number;
}

const LEASE_DURATION_MS = 15_000;
const RENEW_DEADLINE_MS = 10_000;
const RETRY_PERIOD_MS = 2_000;
/** Candidates look up to this many times the period later. */
const JITTER = 1.2;

/**
 * Has one process of many act, by a Lease, with the timings of client-go.
 *
 * Nobody's wall clock counts: a candidate takes the lease over when it has seen it unchanged for the lease's duration
 * by its own monotonic clock, and a holder stops when its last renewal that succeeded began longer ago than the renew
 * deadline by its own. So it stops before another may begin, however long requests take.
 */
export class LeaderElection {
  readonly #options: LeaderElectionOptions;
  readonly #lock: LeaseLock;
  readonly #renewDeadlineMs: number;
  readonly #retryPeriodMs: number;
  /** Until when this process may act, by the monotonic clock; `undefined` while it does not lead. */
  #validUntilMs: number | undefined;
  readonly #failures: FailureLog;

  /** @throws when the timings do not keep two from leading at once */
  constructor(options: LeaderElectionOptions) {
    const { logger } = options;
    this.#options = options;
    this.#failures = new FailureLog({ logger, failing: 'Cannot get or renew the lease; it is tried again' });
    const durationMs = options.leaseDurationMs ?? LEASE_DURATION_MS;
    this.#renewDeadlineMs = options.renewDeadlineMs ?? RENEW_DEADLINE_MS;
    this.#retryPeriodMs = options.retryPeriodMs ?? RETRY_PERIOD_MS;
    if (!(durationMs > this.#renewDeadlineMs) || !(this.#renewDeadlineMs > JITTER * this.#retryPeriodMs)) {
      throw new RangeError(
        'Cannot elect a leader: the lease duration must exceed the renew deadline, and that 1.2 retry periods',
      );
    }
    this.#lock = new LeaseLock({ ...options, durationMs });
  }

  /** Whether this process may act now. A process that stood still finds out here before its timers fire. */
  get isLeader(): boolean {
    return this.#validUntilMs !== undefined && this.#options.clock.monotonicMs() < this.#validUntilMs;
  }

  /** The observed holder of the lease; `undefined` while it has none. */
  get holder(): string | undefined {
    return this.#lock.holder;
  }

  /** Since when the holder has the lease, as RFC 3339 says it; `undefined` without a holder, or if the lease does not have the time. */
  get heldSince(): string | undefined {
    return this.#lock.heldSince;
  }

  /** To be called before each write. @throws unless this process may act now */
  assertLeader(): void {
    if (!this.isLeader) throw new Error(`${this.#options.identity} does not hold the lease`);
  }

  /**
   * Stands for election until the signal aborts: whenever it is won, leads, and when it is lost, stands again. The
   * lease is released at the end, once nothing acts any more.
   *
   * @param lead acts for as long as its signal lets it; the next election waits until it has come back
   */
  async run(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { logger, identity, lease } = this.#options;
    const fields = { identity, lease: `${lease.namespace}/${lease.name}` };
    while (!signal.aborted) {
      await this.#campaign(signal);
      if (!this.isLeader) continue;
      logger.info('Elected leader', fields);
      const leading = new AbortController();
      const acting = lead(leading.signal).catch((error: unknown) => {
        logger.error('Leading failed; the lease is given back', error, fields);
      });
      const ended = acting.then(() => leading.abort(new Error('it does not lead any more')));
      await this.#renewUntilLost(AbortSignal.any([signal, leading.signal]));
      leading.abort(new Error(signal.aborted ? 'the program ends' : 'the lease is lost'));
      await ended;
      if (!signal.aborted) logger.warning('Not the leader any more', fields);
      await this.#lock.release();
      if (!signal.aborted) await this.#pause(this.#retryPeriodMs, signal);
    }
  }

  async #campaign(signal: AbortSignal): Promise<void> {
    const { random = Math.random } = this.#options;
    while (!signal.aborted) {
      await this.#tryHold(signal);
      if (this.isLeader) return;
      await this.#pause(this.#retryPeriodMs * (1 + JITTER * random()), signal);
    }
  }

  /** Renews as often as it should; comes back when the time is over in which this process may act. */
  async #renewUntilLost(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted && this.isLeader) {
      const leftMs = (this.#validUntilMs ?? 0) - clock.monotonicMs();
      await this.#pause(Math.min(this.#retryPeriodMs, leftMs), signal);
      if (signal.aborted || !this.isLeader) break;
      using expiry = this.#startExpiry(signal);
      await this.#tryHold(expiry.signal);
    }
    this.#validUntilMs = undefined;
  }

  #startExpiry(parent: AbortSignal): Disposable & { readonly signal: AbortSignal } {
    const { clock } = this.#options;
    const expiry = new AbortController();
    const leftMs = Math.max(0, (this.#validUntilMs ?? 0) - clock.monotonicMs());
    const timer = clock.startTimer(leftMs, () =>
      expiry.abort(new Error('the lease could not be renewed in time')),
    );
    const signal = AbortSignal.any([expiry.signal, parent]);
    return { signal, [Symbol.dispose]: () => timer[Symbol.dispose]() };
  }

  /** Acquires the lease if it is free, renews it if it is ours; a failure is logged once. */
  async #tryHold(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const startedAtMs = clock.monotonicMs();
    try {
      const held = await this.#lock.hold({ signal, timeoutMs: this.#renewDeadlineMs });
      if (held) this.#validUntilMs = startedAtMs + this.#renewDeadlineMs;
      else this.#validUntilMs = undefined;
      this.#failures.succeed();
    } catch (error) {
      if (signal.aborted || isConflict(error) || isAlreadyExists(error)) return; // another was faster: it is seen next
      this.#failures.fail(error);
    }
  }

  async #pause(durationMs: number, signal: AbortSignal): Promise<void> {
    await this.#options.clock.sleep(durationMs, { signal }).catch(() => {}); // aborted: the loop ends
  }
}

/** Which election is logged, and where. */
interface LeaderElectionSeriesOptions {
  readonly registry: Registry;
  /** Of the lease. */
  readonly name: string;
  readonly election: Pick<LeaderElection, 'isLeader'>;
}

/** Adds `leader_election_master_status` of Kubernetes: 1 while this process may act, else 0, as of each scrape. */
export function addLeaderElectionSeries({ registry, name, election }: LeaderElectionSeriesOptions): void {
  new Gauge({
    name: 'leader_election_master_status',
    help: 'Whether this process leads: 1 for the one that holds the lease of that name, 0 for those that stand by',
    labelNames: ['name'],
    registers: [registry],
    collect() {
      this.set({ name }, election.isLeader ? 1 : 0);
    },
  });
}
