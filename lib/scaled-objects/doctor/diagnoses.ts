import { type Diagnoses, failedBy } from '#lib/doctor/check.ts';

export const SCALED_OBJECTS_DIAGNOSES = {
  'scaledobjects-definition-missing': {
    title: 'A CustomResourceDefinition of keda.sh is not installed',
    remedy:
      'Run `kubectl apply --server-side -k manifests/crds/keda`, or disable the controller with --controllers=*,-scaledobjects.',
  },
  'scaledobjects-keda-runs': {
    title: 'KEDA is running as well',
    remedy:
      'Stop KEDA (`kubectl -n NAMESPACE scale deployment NAME --replicas=0`), or run the autoscaler with --controllers=*,-scaledobjects. While KEDA runs, the autoscaler does not scale ScaledObjects and ScaledJobs.',
  },
  'scaledobjects-other-provider': {
    title: 'External metrics are served by another provider',
    remedy:
      'Run `kubectl delete apiservice v1beta1.external.metrics.k8s.io` and apply the manifests of the autoscaler again. A cluster has one provider of external metrics, and NAMESPACE/NAME has no values for HPAs of ScaledObjects.',
  },
  'scaledobjects-object-unusable': {
    title: 'An object cannot be used',
    remedy:
      'Fix what the finding reports, with `kubectl -n NAMESPACE edit KIND NAME` or in the scale target. Until then, the target is not scaled.',
  },
  'scaledobjects-trigger-unusable': {
    title: 'A trigger cannot be used',
    remedy:
      'Fix what the finding reports, with `kubectl -n NAMESPACE edit KIND NAME` or in the authentication that the trigger refers to. Until then, the target is not scaled by any trigger of the object.',
  },
  'scaledobjects-parameter-missing': {
    title: 'A trigger runs without a parameter that its authentication refers to',
    remedy:
      'Create the object or key that the finding names, or fix the authentication. Until then the parameter is empty for KIND NAME, and the source may be queried without a password. Objects created later are read within five minutes.',
  },
  'scaledobjects-trigger-failing': {
    title: 'A trigger cannot read a value from its source',
    remedy: 'REMEDY Until then, NAMESPACE/NAME is scaled by its fallback, or not at all.',
  },
} as const satisfies Diagnoses;

export const failed = failedBy(SCALED_OBJECTS_DIAGNOSES);
