import { LEASES, readLease } from '#lib/control/lease.ts';
import { API_DIAGNOSES, permissionDiagnoses } from '#lib/doctor/api-server-check.ts';
import { type Check, type Diagnoses, failedBy, note, ok } from '#lib/doctor/check.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { objectPath } from '#lib/kubernetes/client/api-resource.ts';
import type { LeaderElectionSettings } from '../options/autoscaler-options.ts';

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

/** What the doctor can find wrong with the autoscaler itself; each subsystem has its own beside these. */
export const AUTOSCALER_DIAGNOSES = {
  ...API_DIAGNOSES,
  ...permissionDiagnoses('manifests/overlays/autoscaler'),
  'namespace-absent': {
    title: 'The namespace that is to be looked at does not exist',
    remedy: 'See how it is spelt: `kubectl get namespaces`. Without --namespace all are looked at.',
  },
  'leader-absent': {
    title: 'No replica of the autoscaler leads',
    remedy:
      'See that replicas run, and what their logs say of leader election: `kubectl -n NAMESPACE get pods -l app.kubernetes.io/name=autoscaler`; --leader-elect-resource-namespace and --leader-elect-resource-name must be those of the autoscaler.',
  },
  'leader-silent': {
    title: 'The leader does not renew its lease',
    remedy:
      'See what the log of HOLDER says, and why no other replica takes over: `kubectl -n NAMESPACE get pods -l app.kubernetes.io/name=autoscaler`. If replicas are well, the clock of the machine that this runs on is wrong.',
  },
} as const satisfies Diagnoses;

/** Makes the finding that one of them is. */
export const failed = failedBy(AUTOSCALER_DIAGNOSES);
