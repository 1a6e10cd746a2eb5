import * as z from 'zod/mini';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';

/** A lock that many may want and one has, for as long as it says so again and again. */
export interface Lease extends KubernetesObject {
  readonly spec: LeaseSpec;
}

/** Who has a lease, and since when; times are RFC 3339 with microseconds. */
export interface LeaseSpec {
  /** Absent or empty while nobody has it. */
  readonly holderIdentity?: string | null | undefined;
  readonly leaseDurationSeconds?: number | null | undefined;
  readonly acquireTime?: string | null | undefined;
  readonly renewTime?: string | null | undefined;
  /** How often it went from one holder to another. */
  readonly leaseTransitions?: number | null | undefined;
}

/** Where leases are served. */
export const LEASES: ResourceClient['resource'] = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

const LEASE = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z._default(
    z.looseObject({
      holderIdentity: z.nullish(z.string()),
      leaseDurationSeconds: z.nullish(z.number()),
      acquireTime: z.nullish(z.string()),
      renewTime: z.nullish(z.string()),
      leaseTransitions: z.nullish(z.number()),
    }),
    {},
  ),
});

/** @throws when it is no Lease */
export function readLease(value: unknown): Lease {
  return LEASE.parse(value) as Lease;
}

/** A moment as the Kubernetes API writes one with microseconds. */
export function formatMicroTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '000Z');
}
