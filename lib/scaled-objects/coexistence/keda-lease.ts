import { LEASES, type Lease, readLease } from '#lib/control/lease.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError, MalformedResponse } from '#lib/kubernetes/client/api-error.ts';
import { collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';

/** By which KEDA's operators elect one of them. */
export const OPERATOR_LEASE = 'operator.keda.sh';
/** A list by this takes no permission but that for this name. */
export const OPERATOR_LEASE_SELECTOR = `metadata.name=${OPERATOR_LEASE}`;

/** What the leases say of the operator, and in which namespace; `forbidden` where they may not be read. */
export type LeaseState =
  | (ObservedState & { readonly namespace: string })
  | { readonly kind: 'absent' | 'forbidden' };

/** What leases are looked at with. */
export interface OperatorLeaseOptions {
  readonly client: ApiClient;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  /** Where KEDA runs: a lease of another namespace counts only with {@link countsEverywhere}. */
  readonly namespace: string;
  /** Whether a lease of this name counts in any namespace, where it may be listed. */
  readonly countsEverywhere: boolean;
}

const FORBIDDEN = 403;
/** Who holds one of several leases says more than that another has ended. */
const PRECEDENCE: readonly LeaseState['kind'][] = ['held', 'given up', 'ended'];

/**
 * The lease of KEDA's operator. By default it counts in one namespace alone: wherever it counts, those who may write leases
 * can have all ScaledObjects left alone.
 */
export class OperatorLease {
  readonly #options: OperatorLeaseOptions;
  readonly #leases: ResourceClient<Lease>;
  /** By their namespaces. */
  readonly #observed = new Map<string, ObservedLease>();

  constructor(options: OperatorLeaseOptions) {
    this.#options = options;
    this.#leases = new ResourceClient({ api: options.client, resource: LEASES, read: readLease });
  }

  /** @throws when the API server does not respond as it should */
  async look(signal: AbortSignal): Promise<LeaseState> {
    const { namespace, countsEverywhere } = this.#options;
    const found = countsEverywhere ? await allowed(() => this.#listEverywhere(signal)) : undefined;
    if (found) return this.#evaluate(found);
    const one = await allowed(async () => [
      await this.#leases.find({ namespace, name: OPERATOR_LEASE }, { signal }),
    ]);
    return one ? this.#evaluate(one.filter((lease) => lease !== undefined)) : { kind: 'forbidden' };
  }

  /** From the API server's cache: there is a lease of each node besides. */
  async #listEverywhere(signal: AbortSignal): Promise<readonly Lease[]> {
    const query = new URLSearchParams({ fieldSelector: OPERATOR_LEASE_SELECTOR, resourceVersion: '0' });
    const path = `${collectionPath(LEASES)}?${query}`;
    const items = propertyOf(await this.#options.client.getJson(path, { signal }), 'items') ?? [];
    if (!Array.isArray(items)) throw new MalformedResponse(`Cannot list ${path}: the response is no list`);
    return items.map(readLease);
  }

  #evaluate(found: readonly Lease[]): LeaseState {
    const leases = new Map(found.map((lease) => [lease.metadata.namespace ?? '', lease]));
    for (const [namespace, lease] of leases)
      if (!this.#observed.has(namespace))
        this.#observed.set(namespace, new ObservedLease(lease, this.#options.clock));
    const states: LeaseState[] = [];
    for (const [namespace, seen] of this.#observed) {
      const look = seen.look(leases.get(namespace));
      states.push({ ...look, namespace });
      if (look.kind === 'ended' && !leases.has(namespace)) this.#observed.delete(namespace);
    }
    for (const kind of PRECEDENCE) {
      const state = states.find((look) => look.kind === kind);
      if (state) return state;
    }
    return { kind: 'absent' };
  }
}

/** @returns `undefined` where it is forbidden */
async function allowed<T>(request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof ApiError && error.statusCode === FORBIDDEN) return undefined;
    throw error;
  }
}

/** Whether an operator has a lease, has given it up so lately that another may take it over, or has ended. */
type ObservedState =
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
class ObservedLease {
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
  look(lease: Lease | undefined): ObservedState {
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
type LeaseAge = 'acts' | 'may have ended' | 'has ended';

/** Judges a lease without watching it, by what the clock of its holder has put into it. */
export function classifyLease(lease: Lease, clock: Pick<Clock, 'nowMs'>): LeaseAge {
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
