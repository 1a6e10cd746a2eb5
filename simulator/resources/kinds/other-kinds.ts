import type { KubernetesObject } from '../../objects/kubernetes-object.ts';
import { eventFromCore, eventToCore } from './core.ts';
import { type BuiltIn, builtIn, CONDITIONS, integer, open, openKind, review } from './kind-builders.ts';

const leaseSchema = openKind({
  spec: open({ leaseDurationSeconds: integer({ minimum: 1 }), leaseTransitions: integer({ minimum: 0 }) }),
});

const budgets = {
  group: 'policy',
  resource: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  isNamespaced: true,
  shortNames: ['pdb'],
  hasStatus: true,
  hasGeneration: true,
  initialStatus: {},
  schema: openKind({ status: open({ conditions: CONDITIONS }) }),
  storageVersion: 'policy/v1',
} as const;

/** All groups but core, workloads and autoscaling, in the order of discovery. */
export const API_REGISTRATION: readonly BuiltIn[] = [
  builtIn({
    group: 'apiregistration.k8s.io',
    version: 'v1',
    resource: 'apiservices',
    kind: 'APIService',
    isNamespaced: false,
    categories: ['api-extensions'],
    hasStatus: true,
    takesInitialStatus: true,
    allowsUnconditionalUpdate: false,
  }),
];

/** Reviews are computed on request and not stored. */
export const REVIEWS: readonly BuiltIn[] = [
  review('authentication.k8s.io', 'selfsubjectreviews', 'SelfSubjectReview'),
  review('authentication.k8s.io', 'tokenreviews', 'TokenReview'),
  review('authorization.k8s.io', 'selfsubjectaccessreviews', 'SelfSubjectAccessReview'),
  review('authorization.k8s.io', 'subjectaccessreviews', 'SubjectAccessReview'),
];

export const OTHER_GROUPS: readonly BuiltIn[] = [
  builtIn({
    group: 'events.k8s.io',
    version: 'v1',
    resource: 'events',
    kind: 'Event',
    isNamespaced: true,
    shortNames: ['ev'],
    storage: 'events',
    storageVersion: 'v1',
    fromStored: eventFromCore,
    toStored: eventToCore,
  }),
  builtIn({
    group: 'networking.k8s.io',
    version: 'v1',
    resource: 'ingresses',
    kind: 'Ingress',
    isNamespaced: true,
    shortNames: ['ing'],
    hasStatus: true,
    hasGeneration: true,
    initialStatus: { loadBalancer: {} },
  }),
  builtIn({ ...budgets, version: 'v1', introducedIn: 21 }),
  builtIn({
    ...budgets,
    version: 'v1beta1',
    removedAfter: 24,
    toStored: (budget) => ({ ...budget, apiVersion: 'policy/v1' }),
  }),
  builtIn({
    group: 'coordination.k8s.io',
    version: 'v1',
    resource: 'leases',
    kind: 'Lease',
    isNamespaced: true,
    allowsUnconditionalUpdate: false,
    schema: leaseSchema,
  }),
  builtIn({
    group: 'apiextensions.k8s.io',
    version: 'v1',
    resource: 'customresourcedefinitions',
    kind: 'CustomResourceDefinition',
    isNamespaced: false,
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    hasStatus: true,
    hasGeneration: true,
    allowsUnconditionalUpdate: false,
    initialStatus: { conditions: [], acceptedNames: { plural: '', kind: '' }, storedVersions: [] },
    applyDefaults: completeCustomResourceDefinition,
  }),
];

/** Sets the names that depend on others. */
function completeCustomResourceDefinition(crd: KubernetesObject): KubernetesObject {
  const spec = crd.spec as { readonly names?: Readonly<Record<string, unknown>> };
  const kindName = String(spec.names?.kind ?? '');
  const defaults = { singular: kindName.toLowerCase(), listKind: `${kindName}List` };
  return {
    ...crd,
    spec: { conversion: { strategy: 'None' }, ...spec, names: { ...defaults, ...spec.names } },
  };
}
