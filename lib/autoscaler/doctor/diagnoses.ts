import { API_DIAGNOSES, permissionDiagnoses } from '#lib/doctor/api-server-check.ts';
import { type Diagnoses, failedBy } from '#lib/doctor/check.ts';

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
