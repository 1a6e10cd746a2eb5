import { LEASES, readLease } from '#lib/control/lease.ts';
import { API_DIAGNOSES, permissionDiagnoses } from '#lib/doctor/api-server-check.ts';
import { type Check, type Diagnoses, failedBy, note, ok } from '#lib/doctor/check.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { objectPath } from '#lib/kubernetes/client/api-resource.ts';
import type { LeaderElectionSettings } from './options/autoscaler-options.ts';

/** Checks that a replica holds the lease and renews it. */
export function leader(election: LeaderElectionSettings | undefined): Check {
  return {
    name: 'leader',
    title: 'Leader',

    async run(context) {
      if (!election) return [note('lease', 'leader election is disabled (--leader-elect=false)')];
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
      if (value === undefined) return absent('not found: no replica has ever been the leader');
      const { holderIdentity, renewTime, leaseDurationSeconds } = readLease(value).spec;
      if (!holderIdentity) return absent('has no holder');
      const ageMs = context.clock.nowMs() - Date.parse(renewTime ?? '');
      const durationMs = (leaseDurationSeconds ?? election.leaseDurationMs / 1000) * 1000;
      if (ageMs <= -durationMs) {
        const aheadS = Math.round(-ageMs / 1000);
        const seen = `held by ${holderIdentity}, renewed ${aheadS} s in the future: the clocks of the leader and this machine differ`;
        return [{ status: 'unchecked', subject, seen }];
      }
      const seen = `held by ${holderIdentity}, ${Number.isNaN(ageMs) ? 'never renewed' : `renewed ${Math.round(Math.max(0, ageMs) / 1000)} s ago`}`;
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

/** The diagnoses of the autoscaler itself. */
export const AUTOSCALER_DIAGNOSES = {
  ...API_DIAGNOSES,
  ...permissionDiagnoses('manifests/overlays/autoscaler'),
  'namespace-absent': {
    title: 'The chosen namespace does not exist',
    remedy:
      'Check the name of the namespace: `kubectl get namespaces`. If --namespace is not set, all namespaces are examined.',
  },
  'leader-absent': {
    title: 'No replica of the autoscaler is the leader',
    remedy:
      'Check that replicas run (`kubectl -n NAMESPACE get pods -l app.kubernetes.io/name=autoscaler`), and read their log lines about leader election. Run the doctor with the same --leader-elect-resource-namespace and --leader-elect-resource-name as the autoscaler.',
  },
  'leader-silent': {
    title: 'The leader does not renew its lease',
    remedy:
      'Check the log of HOLDER, and why no other replica takes over: `kubectl -n NAMESPACE get pods -l app.kubernetes.io/name=autoscaler`. If the replicas are healthy, the clock of this machine is wrong.',
  },
} as const satisfies Diagnoses;

export const failed = failedBy(AUTOSCALER_DIAGNOSES);
