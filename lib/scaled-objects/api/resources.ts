import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';

export const API_VERSION = 'keda.sh/v1alpha1';
const KEDA = { group: 'keda.sh', version: 'v1alpha1', subresources: ['status'] };

export const SCALED_OBJECTS: ApiResource = {
  ...KEDA,
  kind: 'ScaledObject',
  plural: 'scaledobjects',
  namespaced: true,
};

export const SCALED_JOBS: ApiResource = {
  ...KEDA,
  kind: 'ScaledJob',
  plural: 'scaledjobs',
  namespaced: true,
};

export const TRIGGER_AUTHENTICATIONS: ApiResource = {
  ...KEDA,
  kind: 'TriggerAuthentication',
  plural: 'triggerauthentications',
  namespaced: true,
};

export const CLUSTER_TRIGGER_AUTHENTICATIONS: ApiResource = {
  ...KEDA,
  kind: 'ClusterTriggerAuthentication',
  plural: 'clustertriggerauthentications',
  namespaced: false,
};

/** The controllers start once all of these are served. */
export const WATCHED_KINDS = [
  SCALED_OBJECTS,
  SCALED_JOBS,
  TRIGGER_AUTHENTICATIONS,
  CLUSTER_TRIGGER_AUTHENTICATIONS,
] as const;

/** KEDA's finalizer, so that either operator can take over objects of the other. */
export const FINALIZER = 'finalizer.keda.sh';
/** Field manager of all writes. */
export const FIELD_MANAGER = 'autoscaler-scaledobject';
/** Label that selects the external metrics of a ScaledObject. */
export const NAME_LABEL = 'scaledobject.keda.sh/name';
/** Not copied to created objects: `kubectl apply` would compare them with the object that has it. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
export const MAX_LABEL_LENGTH = 63;

/** Labels of the HPAs and Jobs that are created for an object, as in KEDA. @param version of this program */
export function createdLabels(name: string, version: string): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/version': version.slice(0, MAX_LABEL_LENGTH).replaceAll(/[^a-zA-Z0-9._-]/g, '-'),
    'app.kubernetes.io/part-of': name.slice(0, MAX_LABEL_LENGTH),
    'app.kubernetes.io/managed-by': 'keda-operator',
  };
}
