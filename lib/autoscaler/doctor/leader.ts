import { LEASES, readLease } from '#lib/control/lease.ts';
import { type Check, note, ok } from '#lib/doctor/check.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { objectPath } from '#lib/kubernetes/client/api-resource.ts';
import type { LeaderElectionSettings } from '../options/autoscaler-options.ts';
import { failed } from './diagnoses.ts';

/** Who holds the lease by which controllers act. */
export function leader(election: LeaderElectionSettings | undefined): Check {
  return {
    name: 'leader',
    title: 'Leader',

    async run(context) {
      if (!election) return [note('lease', 'there is no leader election (--leader-elect=false)')];
      const { namespace, name } = election.lease;
      const subject = `lease ${namespace}/${name}`;
      const absent = (seen: string) => [
        failed(subject, seen, { diagnosis: 'leader-absent', NAMESPACE: namespace }),
      ];
      const path = objectPath(LEASES, election.lease);
      const value = await context
        .get(path, `get leases.coordination.k8s.io ${name} in ${namespace}`)
        .catch((error: unknown) => {
          if (error instanceof ApiError && error.statusCode === 404) return undefined;
          throw error;
        });
      if (value === undefined) return absent('is not there: no replica has ever led');
      const { holderIdentity, renewTime, leaseDurationSeconds } = readLease(value).spec;
      if (!holderIdentity) return absent('is held by nobody');
      const ageMs = context.clock.nowMs() - Date.parse(renewTime ?? '');
      const durationMs = (leaseDurationSeconds ?? election.leaseDurationMs / 1000) * 1000;
      if (ageMs <= -durationMs) {
        const aheadS = Math.round(-ageMs / 1000);
        const seen = `held by ${holderIdentity}, renewed ${aheadS} s from now, for one of both clocks is wrong: see whether that time changes`;
        return [{ status: 'unchecked', subject, seen }];
      }
      const seen = `held by ${holderIdentity}, renewed ${Number.isNaN(ageMs) ? 'never' : `${Math.round(Math.max(0, ageMs) / 1000)} s ago`}`;
      const isRenewed = ageMs < durationMs;
      return isRenewed
        ? [ok(subject, seen)]
        : [
            failed(subject, seen, {
              diagnosis: 'leader-silent',
              HOLDER: holderIdentity,
              NAMESPACE: namespace,
            }),
          ];
    },
  };
}
