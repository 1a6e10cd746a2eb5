import { LEASES, type Lease, readLease } from '#lib/control/lease.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError, MalformedResponse } from '#lib/kubernetes/client/api-error.ts';
import { collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';
import { SeenLease, type SeenLook } from './seen-lease.ts';

/** By which KEDA's operators elect one of them. */
export const OPERATOR_LEASE = 'operator.keda.sh';
/** A list by this takes no permission but that for this name. */
export const OPERATOR_LEASE_SELECTOR = `metadata.name=${OPERATOR_LEASE}`;

/** What the leases say of the operator, and in which namespace; `forbidden` where they may not be read. */
export type LeaseLook =
  | (SeenLook & { readonly namespace: string })
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
const TELLING: readonly LeaseLook['kind'][] = ['held', 'given up', 'ended'];

/**
 * The lease of KEDA's operator. By default it counts in one namespace alone: wherever it counts, those who may write leases
 * can have all ScaledObjects left alone.
 */
export class OperatorLease {
  readonly #options: OperatorLeaseOptions;
  readonly #leases: ResourceClient<Lease>;
  /** By their namespaces. */
  readonly #seen = new Map<string, SeenLease>();

  constructor(options: OperatorLeaseOptions) {
    this.#options = options;
    this.#leases = new ResourceClient({ api: options.client, resource: LEASES, read: readLease });
  }

  /** @throws when the API server does not respond as it should */
  async look(signal: AbortSignal): Promise<LeaseLook> {
    const { namespace, countsEverywhere } = this.#options;
    const found = countsEverywhere ? await allowed(() => this.#everywhere(signal)) : undefined;
    if (found) return this.#judge(found);
    const one = await allowed(async () => [
      await this.#leases.find({ namespace, name: OPERATOR_LEASE }, { signal }),
    ]);
    return one ? this.#judge(one.filter((lease) => lease !== undefined)) : { kind: 'forbidden' };
  }

  /** From the API server's cache: there is a lease of each node besides. */
  async #everywhere(signal: AbortSignal): Promise<readonly Lease[]> {
    const query = new URLSearchParams({ fieldSelector: OPERATOR_LEASE_SELECTOR, resourceVersion: '0' });
    const path = `${collectionPath(LEASES)}?${query}`;
    const items = propertyOf(await this.#options.client.getJson(path, { signal }), 'items') ?? [];
    if (!Array.isArray(items)) throw new MalformedResponse(`Cannot list ${path}: the response is no list`);
    return items.map(readLease);
  }

  #judge(found: readonly Lease[]): LeaseLook {
    const leases = new Map(found.map((lease) => [lease.metadata.namespace ?? '', lease]));
    for (const [namespace, lease] of leases)
      if (!this.#seen.has(namespace)) this.#seen.set(namespace, new SeenLease(lease, this.#options.clock));
    const looks: LeaseLook[] = [];
    for (const [namespace, seen] of this.#seen) {
      const look = seen.look(leases.get(namespace));
      looks.push({ ...look, namespace });
      if (look.kind === 'ended' && !leases.has(namespace)) this.#seen.delete(namespace);
    }
    for (const kind of TELLING) {
      const telling = looks.find((look) => look.kind === kind);
      if (telling) return telling;
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
