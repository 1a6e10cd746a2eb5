import { LEASES, type Lease, readLease } from '#lib/control/election/lease.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { Clock } from '#lib/time/clock.ts';

/** By which KEDA's operators elect one of them. */
export const OPERATOR_LEASE = 'operator.keda.sh';

/** What the lease says of the operator: whether it runs, has ended, or was never there; `forbidden` where it may not be read. */
export type LeaseLook =
  | { readonly kind: 'held'; readonly holder: string }
  | { readonly kind: 'ended' | 'absent' | 'forbidden' };

/** What a lease is looked at with. */
export interface OperatorLeaseOptions {
  readonly client: ApiClient;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly namespace: string;
}

const FORBIDDEN = 403;
/** What a lease lasts that does not say it. */
const DURATION_MS = 15_000;
/** A lease that was renewed so long ago has ended, whatever two clocks may differ by; a younger one is seen to end. */
const LONG_AGO_MS = 600_000;

/**
 * The lease of KEDA's operator. It has ended once it was given back, or seen unchanged for as long as it says that it
 * lasts: by our own monotonic clock, as candidates for a lease judge it.
 */
export class OperatorLease {
  readonly #options: OperatorLeaseOptions;
  readonly #leases: ResourceClient<Lease>;
  #seen: { readonly version: string | undefined; readonly atMs: number } | undefined;

  constructor(options: OperatorLeaseOptions) {
    this.#options = options;
    this.#leases = new ResourceClient({ api: options.client, resource: LEASES, read: readLease });
  }

  /** @throws when the API server does not respond as it should */
  async look(signal: AbortSignal): Promise<LeaseLook> {
    const { namespace } = this.#options;
    try {
      const lease = await this.#leases.find({ namespace, name: OPERATOR_LEASE }, { signal });
      return lease ? this.#judge(lease) : { kind: 'absent' };
    } catch (error) {
      if (error instanceof ApiError && error.statusCode === FORBIDDEN) return { kind: 'forbidden' };
      throw error;
    }
  }

  #judge({ metadata: { resourceVersion: version }, spec }: Lease): LeaseLook {
    const { clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const isFirst = this.#seen === undefined;
    if (this.#seen?.version !== version || !this.#seen) this.#seen = { version, atMs: nowMs };
    const holder = spec.holderIdentity;
    if (!holder) return { kind: 'ended' };
    const ageMs = clock.nowMs() - Date.parse(spec.renewTime ?? '');
    if (isFirst && ageMs > LONG_AGO_MS) this.#seen = { version, atMs: Number.NEGATIVE_INFINITY };
    const durationMs = spec.leaseDurationSeconds ? spec.leaseDurationSeconds * 1000 : DURATION_MS;
    return nowMs - this.#seen.atMs > durationMs ? { kind: 'ended' } : { kind: 'held', holder };
  }
}
