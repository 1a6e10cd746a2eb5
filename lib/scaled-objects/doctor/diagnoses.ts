import { type Diagnoses, failedBy } from '#lib/doctor/check.ts';

/** What the doctor can find wrong with scaling by events. */
export const SCALED_OBJECTS_DIAGNOSES = {
  'scaledobjects-definition-missing': {
    title: 'A definition of keda.sh is not installed',
    remedy:
      'Run `kubectl apply --server-side -k manifests/crds/keda`, or leave the controller out by --controllers=*,-scaledobjects.',
  },
  'scaledobjects-keda-runs': {
    title: 'KEDA runs, too',
    remedy:
      'Stop one of the two: `kubectl -n NAMESPACE scale deployment NAME --replicas=0`, or --controllers=*,-scaledobjects here. While it runs, this autoscaler leaves ScaledObjects and ScaledJobs to it.',
  },
  'scaledobjects-other-provider': {
    title: 'External metrics are served by another provider',
    remedy:
      'Run `kubectl delete apiservice v1beta1.external.metrics.k8s.io` and apply our manifests again: there is one provider for each cluster, and HPAs of ScaledObjects get no values from NAMESPACE/NAME.',
  },
  'scaledobjects-object-unusable': {
    title: 'An object cannot be used',
    remedy:
      'Mend what the finding tells in `kubectl -n NAMESPACE edit KIND NAME`, or in what it scales: until then nothing is done for it.',
  },
  'scaledobjects-trigger-unusable': {
    title: 'A trigger cannot be used',
    remedy:
      'Mend what the finding tells in `kubectl -n NAMESPACE edit KIND NAME`, or in the authentication that it refers to: until then the whole object does nothing.',
  },
  'scaledobjects-parameter-missing': {
    title: 'A trigger is asked without what its authentication refers to',
    remedy:
      'Make the object or the key that the finding names, or mend the authentication: until then the parameter is empty for KIND NAME, and the source may be asked without a password. What is made later is read within five minutes.',
  },
  'scaledobjects-trigger-failing': {
    title: 'A trigger gets no value from its source',
    remedy:
      'Where the finding tells what the source said, mend what the trigger asks for in `kubectl -n NAMESPACE edit KIND NAME`, or its credentials; where the source said nothing, see that it runs, that a NetworkPolicy lets the autoscaler in, and that its host is one of --allowed-hosts: until then NAMESPACE/NAME is scaled by its fallback, or not at all.',
  },
} as const satisfies Diagnoses;

/** Makes the finding that one of them is. */
export const failed = failedBy(SCALED_OBJECTS_DIAGNOSES);
