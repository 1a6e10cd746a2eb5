import { LEASES, type Lease, readLease } from '#lib/control/lease.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError, MalformedResponse } from '#lib/kubernetes/client/api-error.ts';
import { collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';

/** Lease of the leader election of KEDA's operator. */
export const OPERATOR_LEASE = 'operator.keda.sh';
/** A list with this field selector is allowed by a Role that names only this lease. */
export const OPERATOR_LEASE_SELECTOR = `metadata.name=${OPERATOR_LEASE}`;

/** State of the leases together, with the namespace of the one that decides it. */
export type LeaseState =
  | (ObservedState & { readonly namespace: string })
  | { readonly kind: 'absent' | 'forbidden' };

export interface OperatorLeaseOptions {
  readonly client: ApiClient;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  /** Namespace of KEDA. */
  readonly namespace: string;
  /** Whether a lease of this name counts in any namespace, if leases may be listed. */
  readonly countsEverywhere: boolean;
}

const FORBIDDEN = 403;
/** With several leases, the first of these states that any of them has. */
const PRECEDENCE: readonly LeaseState['kind'][] = ['held', 'released', 'ended'];

/**
 * The lease of KEDA's operator. By default it counts in one namespace only: a client that may write leases in a namespace where it
 * counts can stop the scaling of all ScaledObjects.
 */
export class OperatorLease {
  readonly #options: OperatorLeaseOptions;
  readonly #leases: ResourceClient<Lease>;
  /** By namespace. */
  readonly #observed = new Map<string, ObservedLease>();

  constructor(options: OperatorLeaseOptions) {
    this.#options = options;
    this.#leases = new ResourceClient({ api: options.client, resource: LEASES, read: readLease });
  }

  /** @throws when a request to the API server fails, other than with 403 or 404 */
  async read(signal: AbortSignal): Promise<LeaseState> {
    const { namespace, countsEverywhere } = this.#options;
    const found = countsEverywhere ? await allowed(() => this.#listEverywhere(signal)) : undefined;
    if (found) return this.#evaluate(found);
    const one = await allowed(async () => [
      await this.#leases.find({ namespace, name: OPERATOR_LEASE }, { signal }),
    ]);
    return one ? this.#evaluate(one.filter((lease) => lease !== undefined)) : { kind: 'forbidden' };
  }

  /** Reads from the API server's cache (`resourceVersion=0`), because clusters have one lease per node. */
  async #listEverywhere(signal: AbortSignal): Promise<readonly Lease[]> {
    const query = new URLSearchParams({ fieldSelector: OPERATOR_LEASE_SELECTOR, resourceVersion: '0' });
    const path = `${collectionPath(LEASES)}?${query}`;
    const items = propertyOf(await this.#options.client.getJson(path, { signal }), 'items') ?? [];
    if (!Array.isArray(items)) throw new MalformedResponse(`Cannot list ${path}: the response is not a list`);
    return items.map(readLease);
  }

  #evaluate(found: readonly Lease[]): LeaseState {
    const leases = new Map(found.map((lease) => [lease.metadata.namespace ?? '', lease]));
    for (const [namespace, lease] of leases)
      if (!this.#observed.has(namespace))
        this.#observed.set(namespace, new ObservedLease(lease, this.#options.clock));
    const states: LeaseState[] = [];
    for (const [namespace, observed] of this.#observed) {
      const state = observed.update(leases.get(namespace));
      states.push({ ...state, namespace });
      if (state.kind === 'ended' && !leases.has(namespace)) this.#observed.delete(namespace);
    }
    for (const kind of PRECEDENCE) {
      const state = states.find((one) => one.kind === kind);
      if (state) return state;
    }
    return { kind: 'absent' };
  }
}

/** @returns `undefined` if the API server responds with 403 */
async function allowed<T>(request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof ApiError && error.statusCode === FORBIDDEN) return undefined;
    throw error;
  }
}

/** `released`: it has no holder, but a standby may still acquire it. `ended`: no replica has renewed it for {@link GRACE_MS}. */
type ObservedState =
  | { readonly kind: 'held'; readonly holder: string }
  | { readonly kind: 'released' | 'ended' };

/**
 * How long a lease counts after its last renewal. A standby of KEDA acquires a lease that has been unchanged for its duration,
 * or has no holder, at its next attempt: 20 s after the last renewal by default. The duration and the renew time in the lease
 * are chosen by its writer and ignored.
 */
export const GRACE_MS = 60_000;
/** A lease renewed before that has ended at its first read, whatever the difference of clocks; a later one is observed first. */
const LONG_AGO_MS = 600_000;

/**
 * One lease, observed over time. It has ended once it was not renewed, released or deleted for {@link GRACE_MS} by the local
 * monotonic clock, as in the leader election of client-go.
 */
class ObservedLease {
  readonly #clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  /** `undefined` once the lease was deleted. */
  #renewal: string | undefined;
  /** When the lease ends unless it is renewed, by the monotonic clock. */
  #endsAtMs: number;

  constructor(lease: Lease, clock: Pick<Clock, 'nowMs' | 'monotonicMs'>) {
    this.#clock = clock;
    this.#renewal = renewalOf(lease);
    this.#endsAtMs = renewedAgoMs(lease, clock) > LONG_AGO_MS ? Number.NEGATIVE_INFINITY : this.#nextEndMs;
  }

  /** @param lease the current state; `undefined` if it was deleted */
  update(lease: Lease | undefined): ObservedState {
    const holder = lease?.spec.holderIdentity;
    const renewal = renewalOf(lease);
    // An ended lease counts again only once it has a holder.
    if (this.#renewal !== renewal && (holder || !this.#hasEnded)) {
      this.#renewal = renewal;
      this.#endsAtMs = this.#nextEndMs;
    }
    if (this.#hasEnded) return { kind: 'ended' };
    return holder ? { kind: 'held', holder } : { kind: 'released' };
  }

  get #hasEnded(): boolean {
    return this.#clock.monotonicMs() > this.#endsAtMs;
  }

  get #nextEndMs(): number {
    return this.#clock.monotonicMs() + GRACE_MS;
  }
}

/** State of a lease by a single read; `may have ended` can only be resolved by observing it over time. */
type LeaseAge = 'acts' | 'may have ended' | 'has ended';

/** Classifies a lease by a single read, by the renew time that its holder wrote. */
export function classifyLease(lease: Lease, clock: Pick<Clock, 'nowMs'>): LeaseAge {
  const ageMs = renewedAgoMs(lease, clock);
  if (ageMs > LONG_AGO_MS) return 'has ended';
  return Math.abs(ageMs) > GRACE_MS ? 'may have ended' : 'acts';
}

/** Milliseconds since the last renewal, by its holder's clock; `NaN` if it has no renew time. */
export function renewedAgoMs({ spec }: Lease, clock: Pick<Clock, 'nowMs'>): number {
  return clock.nowMs() - Date.parse(spec.renewTime ?? '');
}

/** Changes with each renewal and holder; other changes of a lease are no renewal. */
function renewalOf(lease: Lease | undefined): string | undefined {
  return lease && JSON.stringify([lease.spec.holderIdentity ?? '', lease.spec.renewTime ?? '']);
}
