import type { Lease } from '#lib/control/election/lease.ts';
import type { Clock } from '#lib/time/clock.ts';

/** Whether an operator has a lease, has given it up so lately that another may take it over, or has ended. */
export type SeenLook =
  | { readonly kind: 'held'; readonly holder: string }
  | { readonly kind: 'given up' | 'ended' };

/**
 * A standby of KEDA takes over when it has seen the lease unchanged for its duration, or empty, at its next try: 20 s after
 * the last renewal, by default. Who took it for ended as early would act beside that one after each failover.
 */
const GRACE_DURATIONS = 3;
const LEAST_GRACE_MS = 60_000;
/** A lease that was renewed so long ago has ended, whatever two clocks may differ by; a younger one is seen to end. */
const LONG_AGO_MS = 600_000;

/**
 * One lease of KEDA's operator. It has ended once it was seen unchanged, given back or gone for longer than it takes one
 * of several operators to take over: by our own monotonic clock, as candidates for a lease judge it.
 */
export class SeenLease {
  readonly #clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  /** `undefined` once the lease was deleted. */
  #version: string | undefined;
  /** When the lease has ended unless it changes. */
  #endsAtMs: number;

  constructor(lease: Lease, clock: Pick<Clock, 'nowMs' | 'monotonicMs'>) {
    this.#clock = clock;
    this.#version = lease.metadata.resourceVersion;
    this.#endsAtMs = renewedAgoMs(lease, clock) > LONG_AGO_MS ? Number.NEGATIVE_INFINITY : this.#endOf(lease);
  }

  /** @param lease as it is now; `undefined` where it is gone */
  look(lease: Lease | undefined): SeenLook {
    const holder = lease?.spec.holderIdentity;
    const version = lease?.metadata.resourceVersion;
    // What has ended goes on being so until somebody holds it.
    if (this.#version !== version && (holder || !this.#hasEnded)) {
      this.#version = version;
      this.#endsAtMs = this.#endOf(lease);
    }
    if (this.#hasEnded) return { kind: 'ended' };
    return holder ? { kind: 'held', holder } : { kind: 'given up' };
  }

  get #hasEnded(): boolean {
    return this.#clock.monotonicMs() > this.#endsAtMs;
  }

  #endOf(lease: Lease | undefined): number {
    return this.#clock.monotonicMs() + graceMs(lease);
  }
}

/** What one look at a lease tells of whether its operator acts: who has watched it for longer knows it in between, too. */
export type LeaseAtOneLook = 'acts' | 'may have ended' | 'has ended';

/** Judges a lease without watching it, by what the clock of its holder has put into it. */
export function leaseAtOneLook(lease: Lease, clock: Pick<Clock, 'nowMs'>): LeaseAtOneLook {
  const ageMs = renewedAgoMs(lease, clock);
  if (ageMs > LONG_AGO_MS) return 'has ended';
  return ageMs > graceMs(lease) ? 'may have ended' : 'acts';
}

/** How long ago a lease was renewed, by its holder's clock; `NaN` where it does not tell. */
export function renewedAgoMs({ spec }: Lease, clock: Pick<Clock, 'nowMs'>): number {
  return clock.nowMs() - Date.parse(spec.renewTime ?? '');
}

/** For how long a lease must be seen unchanged until it has ended. */
function graceMs(lease: Lease | undefined): number {
  const { holderIdentity, leaseDurationSeconds } = lease?.spec ?? {};
  // What nobody holds is taken at a standby's next try, however long it would last.
  const durationMs = holderIdentity ? (leaseDurationSeconds ?? 0) * 1000 : 0;
  return Math.max(GRACE_DURATIONS * durationMs, LEAST_GRACE_MS);
}
