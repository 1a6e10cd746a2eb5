import * as z from 'zod';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { isConflict } from '#lib/kubernetes/client/api-error.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import { type KubernetesObject, readObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';

/** A lock that many may want and one has, for as long as it says so again and again. */
export interface Lease extends KubernetesObject {
  readonly spec: LeaseSpec;
}

/** Who has a lease, and since when; times are RFC 3339 with microseconds. */
interface LeaseSpec {
  /** Absent or empty without a holder. */
  readonly holderIdentity?: string | null | undefined;
  readonly leaseDurationSeconds?: number | null | undefined;
  readonly acquireTime?: string | null | undefined;
  readonly renewTime?: string | null | undefined;
  /** How often it went from one holder to another. */
  readonly leaseTransitions?: number | null | undefined;
}

/** Where leases are served. */
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

/** @throws when it is no Lease, naming the field */
export function readLease(value: unknown): Lease {
  return readAs(LEASE, 'a Lease', readObject(value)) as Lease;
}

/** A moment as the Kubernetes API writes one with microseconds. */
export function formatMicroTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '000Z');
}

/** Which lease is held, and by whom. */
interface LeaseLockOptions {
  readonly api: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Of this process alone: one that starts again has another. */
  readonly identity: string;
  /** For how long others leave a holder alone that they do not hear of. */
  readonly durationMs: number;
}

/** The lease with another holder, and when this process first saw it so, by its own monotonic clock. */
interface Observation {
  /** What only holders write: a label that is put on the lease of one that vanished is no renewal. */
  readonly spec: string;
  readonly seenAtMs: number;
}

/** The end of the program waits for it. */
const RELEASE_TIMEOUT_MS = 2_000;

/**
 * A Lease that one of many holds: acquired while it has no holder, and when it was not renewed for as long as its holder said, by the
 * monotonic clock of who looks. Conflicts leave it to the one that was faster.
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

  /** Since when the holder has the lease, as RFC 3339 says it; `undefined` without a holder, or if the lease does not have the time. */
  get heldSince(): string | undefined {
    return this.#holder ? this.#heldSince : undefined;
  }

  /**
   * Takes the lease if it is free, and renews it if it is ours.
   *
   * @returns whether it is ours now
   * @throws what the API server refuses it with, a conflict among that, and what keeps it from being reached
   */
  async hold(options: { readonly signal: AbortSignal; readonly timeoutMs: number }): Promise<boolean> {
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
    const kept: LeaseSpec = isOurs
      ? { acquireTime: spec.acquireTime ?? nowText, leaseTransitions: spec.leaseTransitions ?? 0 }
      : { leaseTransitions: (spec.leaseTransitions ?? 0) + 1 };
    await this.#leases.update({ ...current, spec: { ...ours, ...kept } }, options);
    this.#holder = identity;
    this.#heldSince = kept.acquireTime ?? nowText;
    return true;
  }

  /** Lets the next one take the lease at once; where that fails, it takes it when it has expired. */
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
        logger.warning('Cannot release the lease; it expires', { error: String(error) });
    }
  }

  /** Whether the lease was not renewed for as long as its holder said, as seen from here. */
  #hasExpired(spec: LeaseSpec): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const text = JSON.stringify(spec);
    if (this.#observed?.spec !== text) this.#observed = { spec: text, seenAtMs: nowMs };
    const durationMs = Math.max((spec.leaseDurationSeconds ?? 0) * 1000, this.#options.durationMs);
    return nowMs - this.#observed.seenAtMs > durationMs;
  }
}
