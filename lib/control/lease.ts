import * as z from 'zod';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { isConflict } from '#lib/kubernetes/client/api-error.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import { type KubernetesObject, readObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';

/** A lock that one holder has as long as it renews it. */
export interface Lease extends KubernetesObject {
  readonly spec: LeaseSpec;
}

/** The holder of a lease; times are RFC 3339 with microseconds. */
interface LeaseSpec {
  /** Absent or empty without a holder. */
  readonly holderIdentity?: string | null | undefined;
  readonly leaseDurationSeconds?: number | null | undefined;
  readonly acquireTime?: string | null | undefined;
  readonly renewTime?: string | null | undefined;
  /** Number of changes of the holder. */
  readonly leaseTransitions?: number | null | undefined;
}

/** The resource of leases. */
export const LEASES: ApiResource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

const LEASE = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z
    .looseObject({
      holderIdentity: z.string().nullish(),
      leaseDurationSeconds: z.number().nullish(),
      acquireTime: z.string().nullish(),
      renewTime: z.string().nullish(),
      leaseTransitions: z.number().nullish(),
    })
    .default({}),
});

/** @throws when it is not a Lease, with the name of the field */
export function readLease(value: unknown): Lease {
  return readAs(LEASE, 'a Lease', readObject(value)) as Lease;
}

/** Formats a time with microseconds, as the Kubernetes API does. */
export function formatMicroTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '000Z');
}

interface LeaseLockOptions {
  readonly api: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Unique for this process, also after a restart. */
  readonly identity: string;
  /** How long other processes wait after the last observed renewal. */
  readonly durationMs: number;
}

/** The lease with another holder, and when this process first observed it, by its own monotonic clock. */
interface Observation {
  /** The fields that only holders write: a label on an abandoned lease is not a renewal. */
  readonly spec: string;
  readonly observedAtMs: number;
}

/** Shutdown waits for it. */
const RELEASE_TIMEOUT_MS = 2_000;

/**
 * A Lease with one holder of several candidates: acquired while it has no holder, and when it was not renewed for the
 * holder's lease duration, by the candidate's monotonic clock. After a conflict, the faster client has the lease.
 */
export class LeaseLock {
  readonly #options: LeaseLockOptions;
  readonly #leases: ResourceClient<Lease>;
  #observed: Observation | undefined;
  #holder: string | undefined;
  #heldSince: string | undefined;

  constructor(options: LeaseLockOptions) {
    this.#options = options;
    this.#leases = new ResourceClient({ api: options.api, resource: LEASES, read: readLease });
  }

  /** The observed holder of the lease; `undefined` while it has none. */
  get holder(): string | undefined {
    return this.#holder;
  }

  /**
   * Since when the holder has the lease, in RFC 3339; `undefined` without a holder, or if the lease does not have the
   * time.
   */
  get heldSince(): string | undefined {
    return this.#holder ? this.#heldSince : undefined;
  }

  /**
   * Acquires the lease if it is free, and renews it if it is ours.
   *
   * @returns whether it is ours now
   * @throws errors of the API server, including conflicts, and of the connection to it
   */
  async acquireOrRenew(options: {
    readonly signal: AbortSignal;
    readonly timeoutMs: number;
  }): Promise<boolean> {
    const { clock, lease, identity, durationMs } = this.#options;
    const current = await this.#leases.find(lease, options);
    const nowText = formatMicroTime(clock.nowMs());
    const ours: LeaseSpec = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      acquireTime: nowText,
      renewTime: nowText,
      leaseTransitions: 0,
    };
    if (!current) {
      await this.#leases.create({ metadata: lease, spec: ours }, options);
      this.#holder = identity;
      this.#heldSince = nowText;
      return true;
    }
    const { spec } = current;
    this.#holder = spec.holderIdentity || undefined;
    this.#heldSince = spec.acquireTime ?? undefined;
    const isOurs = spec.holderIdentity === identity;
    if (!isOurs && spec.holderIdentity && !this.#hasExpired(spec)) return false;
    const holding: LeaseSpec = isOurs
      ? { acquireTime: spec.acquireTime ?? nowText, leaseTransitions: spec.leaseTransitions ?? 0 }
      : { leaseTransitions: (spec.leaseTransitions ?? 0) + 1 };
    await this.#leases.update({ ...current, spec: { ...ours, ...holding } }, options);
    this.#holder = identity;
    this.#heldSince = holding.acquireTime ?? nowText;
    return true;
  }

  /** Releases the lease, so that the next candidate acquires it at once; if that fails, the lease expires. */
  async release(): Promise<void> {
    const { clock, lease, identity, logger } = this.#options;
    try {
      const options = { timeoutMs: RELEASE_TIMEOUT_MS };
      const current = await this.#leases.find(lease, options);
      if (current?.spec.holderIdentity !== identity) return;
      const nowText = formatMicroTime(clock.nowMs());
      const spec = { ...current.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: nowText };
      await this.#leases.update({ ...current, spec }, options);
      this.#holder = undefined;
    } catch (error) {
      if (!isConflict(error))
        logger.warning('Cannot release lease; it will expire', { error: String(error) });
    }
  }

  /** Whether the lease was not renewed for the holder's lease duration, as this process observed it. */
  #hasExpired(spec: LeaseSpec): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const text = JSON.stringify(spec);
    if (this.#observed?.spec !== text) this.#observed = { spec: text, observedAtMs: nowMs };
    const durationMs = Math.max((spec.leaseDurationSeconds ?? 0) * 1000, this.#options.durationMs);
    return nowMs - this.#observed.observedAtMs > durationMs;
  }
}
