import type { Lease } from '#lib/control/lease.ts';
import type { Clock } from '#lib/time/clock.ts';

/** Whether an operator has a lease, has given it up so lately that another may take it over, or has ended. */
export type SeenLook =
  | { readonly kind: 'held'; readonly holder: string }
  | { readonly kind: 'given up' | 'ended' };

/**
 * For how long a lease counts without a renewal. A standby of KEDA takes over when it has seen the lease unchanged for its
 * duration, or empty, at its next try: 20 s after the last renewal, by default. What the lease says of its own duration or
 * of a renewal to come is its writer's choice, and does not count.
 */
export const GRACE_MS = 60_000;
/** A lease that was renewed so long ago has ended, whatever two clocks may differ by; a younger one is seen to end. */
const LONG_AGO_MS = 600_000;

/**
 * One lease of KEDA's operator. It has ended once it was seen without a renewal, given back or gone for longer than it takes
 * one of several operators to take over: by our own monotonic clock, as candidates for a lease judge it.
 */
export class SeenLease {
  readonly #clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  /** `undefined` once the lease was deleted. */
  #renewal: string | undefined;
  /** When the lease has ended unless it is renewed. */
  #endsAtMs: number;

  constructor(lease: Lease, clock: Pick<Clock, 'nowMs' | 'monotonicMs'>) {
    this.#clock = clock;
    this.#renewal = renewalOf(lease);
    this.#endsAtMs = renewedAgoMs(lease, clock) > LONG_AGO_MS ? Number.NEGATIVE_INFINITY : this.#nextEndMs;
  }

  /** @param lease as it is now; `undefined` where it is gone */
  look(lease: Lease | undefined): SeenLook {
    const holder = lease?.spec.holderIdentity;
    const renewal = renewalOf(lease);
    // What has ended goes on being so until somebody holds it.
    if (this.#renewal !== renewal && (holder || !this.#hasEnded)) {
      this.#renewal = renewal;
      this.#endsAtMs = this.#nextEndMs;
    }
    if (this.#hasEnded) return { kind: 'ended' };
    return holder ? { kind: 'held', holder } : { kind: 'given up' };
  }

  get #hasEnded(): boolean {
    return this.#clock.monotonicMs() > this.#endsAtMs;
  }

  get #nextEndMs(): number {
    return this.#clock.monotonicMs() + GRACE_MS;
  }
}

/** What one look at a lease tells of whether its operator acts: who has watched it for longer knows it in between, too. */
export type LeaseAtOneLook = 'acts' | 'may have ended' | 'has ended';

/** Judges a lease without watching it, by what the clock of its holder has put into it. */
export function leaseAtOneLook(lease: Lease, clock: Pick<Clock, 'nowMs'>): LeaseAtOneLook {
  const ageMs = renewedAgoMs(lease, clock);
  if (ageMs > LONG_AGO_MS) return 'has ended';
  return Math.abs(ageMs) > GRACE_MS ? 'may have ended' : 'acts';
}

/** How long ago a lease was renewed, by its holder's clock; `NaN` where it does not tell. */
export function renewedAgoMs({ spec }: Lease, clock: Pick<Clock, 'nowMs'>): number {
  return clock.nowMs() - Date.parse(spec.renewTime ?? '');
}

/** Differs from one renewal, or holder, to the next; other changes of a lease renew nothing. */
function renewalOf(lease: Lease | undefined): string | undefined {
  return lease && JSON.stringify([lease.spec.holderIdentity ?? '', lease.spec.renewTime ?? '']);
}
