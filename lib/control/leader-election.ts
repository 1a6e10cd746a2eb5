import { Gauge, type Registry } from 'prom-client';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { isAlreadyExists, isConflict } from '#lib/kubernetes/client/api-error.ts';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { LeaseLock } from './lease.ts';

interface LeaderElectionOptions {
  /** Not the client of controllers: its rate limit must not delay renewals. */
  readonly api: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Unique for this process, also after a restart. */
  readonly identity: string;
  /** How long candidates wait after the last observed renewal; by default 15 s. */
  readonly leaseDurationMs?: number;
  /** How long a leader that cannot renew continues to act; less than the lease duration; by default 10 s. */
  readonly renewDeadlineMs?: number;
  /** Interval of renewals, and of attempts of candidates; by default 2 s. */
  readonly retryPeriodMs?: number;
  /** A number in [0, 1), so that candidates do not all try at once; by default `Math.random`. */
  readonly random?: () => number;
}

const LEASE_DURATION_MS = 15_000;
const RENEW_DEADLINE_MS = 10_000;
const RETRY_PERIOD_MS = 2_000;
/** Maximum factor by which an attempt is later than its period. */
const JITTER = 1.2;

/**
 * Elects one of several processes by a Lease, with the timings of client-go.
 *
 * Wall clocks do not matter: a candidate acquires the lease when it has not observed a change for the lease duration by
 * its own monotonic clock, and a leader stops when its last successful renewal began longer ago than the renew deadline
 * by its own. So it stops before another may begin, however long requests take.
 */
export class LeaderElection {
  readonly #options: LeaderElectionOptions;
  readonly #lock: LeaseLock;
  readonly #renewDeadlineMs: number;
  readonly #retryPeriodMs: number;
  /** Until when this process may act, by the monotonic clock; `undefined` while it does not lead. */
  #validUntilMs: number | undefined;
  readonly #failures: FailureLog;

  /** @throws when the timings would allow two leaders at once */
  constructor(options: LeaderElectionOptions) {
    const { logger } = options;
    this.#options = options;
    this.#failures = new FailureLog({ logger, failing: 'Cannot acquire or renew lease; retrying' });
    const durationMs = options.leaseDurationMs ?? LEASE_DURATION_MS;
    this.#renewDeadlineMs = options.renewDeadlineMs ?? RENEW_DEADLINE_MS;
    this.#retryPeriodMs = options.retryPeriodMs ?? RETRY_PERIOD_MS;
    if (!(durationMs > this.#renewDeadlineMs) || !(this.#renewDeadlineMs > JITTER * this.#retryPeriodMs)) {
      throw new RangeError(
        'Cannot elect a leader: the lease duration must exceed the renew deadline, which must exceed 1.2 retry periods',
      );
    }
    this.#lock = new LeaseLock({ ...options, durationMs });
  }

  /** Whether this process may act now. After the process was stalled, this is correct before its timers fire. */
  get isLeader(): boolean {
    return this.#validUntilMs !== undefined && this.#options.clock.monotonicMs() < this.#validUntilMs;
  }

  /** The observed holder of the lease; `undefined` while it has none. */
  get holder(): string | undefined {
    return this.#lock.holder;
  }

  /**
   * Since when the holder has the lease, in RFC 3339; `undefined` without a holder, or if the lease does not have the
   * time.
   */
  get heldSince(): string | undefined {
    return this.#lock.heldSince;
  }

  /**
   * Call it before each write.
   *
   * @throws unless this process may act now
   */
  assertLeader(): void {
    if (!this.isLeader) throw new Error(`${this.#options.identity} does not hold the lease`);
  }

  /**
   * Takes part in the election until the signal aborts: leads whenever it wins, and becomes a candidate again when it
   * loses the lease. The lease is released at the end, once nothing acts.
   *
   * @param lead acts until its signal aborts; the next election waits until it has returned
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
        logger.error('Work of the leader failed; releasing lease', error, fields);
      });
      const ended = acting.then(() => leading.abort(new Error('no longer the leader')));
      await this.#renewUntilLost(AbortSignal.any([signal, leading.signal]));
      leading.abort(new Error(signal.aborted ? 'program is shutting down' : 'lease is lost'));
      await ended;
      if (!signal.aborted) logger.warning('Stopped leading', fields);
      await this.#lock.release();
      if (!signal.aborted) await this.#pause(this.#retryPeriodMs, signal);
    }
  }

  async #campaign(signal: AbortSignal): Promise<void> {
    const { random = Math.random } = this.#options;
    while (!signal.aborted) {
      await this.#tryToLead(signal);
      if (this.isLeader) return;
      await this.#pause(this.#retryPeriodMs * (1 + JITTER * random()), signal);
    }
  }

  /** Renews the lease periodically; returns at the deadline of the last successful renewal. */
  async #renewUntilLost(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted && this.isLeader) {
      const leftMs = (this.#validUntilMs ?? 0) - clock.monotonicMs();
      await this.#pause(Math.min(this.#retryPeriodMs, leftMs), signal);
      if (signal.aborted || !this.isLeader) break;
      using expiry = this.#startExpiry(signal);
      await this.#tryToLead(expiry.signal);
    }
    this.#validUntilMs = undefined;
  }

  #startExpiry(parent: AbortSignal): Disposable & { readonly signal: AbortSignal } {
    const { clock } = this.#options;
    const expiry = new AbortController();
    const leftMs = Math.max(0, (this.#validUntilMs ?? 0) - clock.monotonicMs());
    const timer = clock.startTimer(leftMs, () => expiry.abort(new Error('lease was not renewed in time')));
    const signal = AbortSignal.any([expiry.signal, parent]);
    return { signal, [Symbol.dispose]: () => timer[Symbol.dispose]() };
  }

  /** Acquires the lease if it is free, renews it if it is ours; a failure is logged once. */
  async #tryToLead(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const startedAtMs = clock.monotonicMs();
    try {
      const isHolder = await this.#lock.acquireOrRenew({ signal, timeoutMs: this.#renewDeadlineMs });
      if (isHolder) this.#validUntilMs = startedAtMs + this.#renewDeadlineMs;
      else this.#validUntilMs = undefined;
      this.#failures.succeed();
    } catch (error) {
      if (signal.aborted || isConflict(error) || isAlreadyExists(error)) return; // another candidate was faster: it is observed next
      this.#failures.fail(error);
    }
  }

  async #pause(durationMs: number, signal: AbortSignal): Promise<void> {
    await this.#options.clock.sleep(durationMs, { signal }).catch(() => {}); // aborted: the loop ends
  }
}

interface LeaderElectionSeriesOptions {
  readonly registry: Registry;
  /** Of the lease. */
  readonly name: string;
  readonly election: Pick<LeaderElection, 'isLeader'>;
}

/**
 * Adds `leader_election_master_status` of Kubernetes: 1 while this process may act, else 0, evaluated at each scrape.
 */
export function addLeaderElectionSeries({ registry, name, election }: LeaderElectionSeriesOptions): void {
  new Gauge({
    name: 'leader_election_master_status',
    help: 'Whether this process is the leader: 1 for the holder of the lease with that name, 0 for standby processes',
    labelNames: ['name'],
    registers: [registry],
    collect() {
      this.set({ name }, election.isLeader ? 1 : 0);
    },
  });
}
