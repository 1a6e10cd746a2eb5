import { LEASES, type Lease, readLease } from '#lib/control/election/lease.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { Clock } from '#lib/time/clock.ts';

/** By which KEDA's operators elect one of them. */
export const OPERATOR_LEASE = 'operator.keda.sh';

/**
 * What the lease says of the operator: whether it runs, was given up so lately that another may take it over, has ended,
 * or was never there; `forbidden` where the lease may not be read.
 */
export type LeaseLook =
  | { readonly kind: 'held'; readonly holder: string }
  | { readonly kind: 'given up' | 'ended' | 'absent' | 'forbidden' };

/** What a lease is looked at with. */
export interface OperatorLeaseOptions {
  readonly client: ApiClient;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly namespace: string;
}

const FORBIDDEN = 403;
/** What a lease lasts that does not say it; one that is given back says a second, whatever it lasted before. */
const LEAST_DURATION_MS = 15_000;
/**
 * A standby of KEDA takes over when it has seen the lease unchanged for its duration, or empty, at its next try: 20 s after
 * the last renewal, by default. Who took it for ended as early would act beside that one after each failover.
 */
const GRACE_DURATIONS = 3;
const LEAST_GRACE_MS = 60_000;
/** A lease that was renewed so long ago has ended, whatever two clocks may differ by; a younger one is seen to end. */
const LONG_AGO_MS = 600_000;

interface Seen {
  /** `undefined` once the lease was deleted. */
  readonly version: string | undefined;
  /** By our own monotonic clock: when the lease has ended unless it changes. */
  readonly endsAtMs: number;
}

/**
 * The lease of KEDA's operator. It has ended once it was seen unchanged, given back or gone for longer than it takes one
 * of several operators to take over: by our own monotonic clock, as candidates for a lease judge it.
 */
export class OperatorLease {
  readonly #options: OperatorLeaseOptions;
  readonly #leases: ResourceClient<Lease>;
  #seen: Seen | undefined;

  constructor(options: OperatorLeaseOptions) {
    this.#options = options;
    this.#leases = new ResourceClient({ api: options.client, resource: LEASES, read: readLease });
  }

  /** @throws when the API server does not respond as it should */
  async look(signal: AbortSignal): Promise<LeaseLook> {
    const { namespace } = this.#options;
    try {
      const lease = await this.#leases.find({ namespace, name: OPERATOR_LEASE }, { signal });
      return lease || this.#seen ? this.#judge(lease) : { kind: 'absent' };
    } catch (error) {
      if (error instanceof ApiError && error.statusCode === FORBIDDEN) return { kind: 'forbidden' };
      throw error;
    }
  }

  #judge(lease: Lease | undefined): LeaseLook {
    const nowMs = this.#options.clock.monotonicMs();
    const holder = lease?.spec.holderIdentity;
    const version = lease?.metadata.resourceVersion;
    const seen = this.#seen;
    const hasEnded = seen !== undefined && nowMs > seen.endsAtMs;
    // What has ended goes on being so until somebody holds it.
    if (!seen || (seen.version !== version && (holder || !hasEnded)))
      this.#seen = { version, endsAtMs: this.#endOf(lease, !seen) };
    if (this.#seen && nowMs > this.#seen.endsAtMs) return { kind: 'ended' };
    return holder ? { kind: 'held', holder } : { kind: 'given up' };
  }

  #endOf(lease: Lease | undefined, isFirst: boolean): number {
    const { clock } = this.#options;
    const ageMs = clock.nowMs() - Date.parse(lease?.spec.renewTime ?? '');
    if (isFirst && ageMs > LONG_AGO_MS) return Number.NEGATIVE_INFINITY;
    const durationMs = Math.max((lease?.spec.leaseDurationSeconds ?? 0) * 1000, LEAST_DURATION_MS);
    return clock.monotonicMs() + Math.max(GRACE_DURATIONS * durationMs, LEAST_GRACE_MS);
  }
}
