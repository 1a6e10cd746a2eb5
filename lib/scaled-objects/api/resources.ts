import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';

/** Group and version of all kinds here. */
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

/** All kinds that are followed: without one of them nothing begins. */
export const FOLLOWED_KINDS = [
  SCALED_OBJECTS,
  SCALED_JOBS,
  TRIGGER_AUTHENTICATIONS,
  CLUSTER_TRIGGER_AUTHENTICATIONS,
] as const;

/** Keeps an object until what was done for it is undone. */
export const FINALIZER = 'finalizer.keda.sh';
/** Under which name the API server knows our changes. */
export const FIELD_MANAGER = 'autoscaler-scaledobject';
/** What selects the external metrics of a ScaledObject. */
export const NAME_LABEL = 'scaledobject.keda.sh/name';
