import type { Diagnoses } from '#lib/doctor/diagnosis.ts';
import { failedBy } from '#lib/doctor/finding.ts';

/** What the doctor can find wrong with scaling by metrics. */
export const HPA_DIAGNOSES = {
  'hpa-controlled-elsewhere': {
    title: 'Another controller decides an HPA, too',
    remedy:
      'Tell kube-controller-manager to leave HPAs alone by --controllers=*,-horizontal-pod-autoscaler-controller (before Kubernetes 1.28 -horizontalpodautoscaling), or this autoscaler by --controllers=*,-hpa: while MANAGER writes the status of NAME in NAMESPACE, nothing is scaled here.',
  },
  'hpa-metrics-api-silent': {
    title: 'A metrics API that HPAs need does not respond',
    remedy:
      'See what `kubectl get apiservices` says of GROUP, and the logs of what serves it: HPAs with its metrics do not scale down, and do not scale at all without another metric.',
  },
} as const satisfies Diagnoses;

/** Makes the finding that one of them is. */
export const failed = failedBy(HPA_DIAGNOSES);
