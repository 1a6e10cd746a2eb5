import { eventFromCore, eventToCore } from './core.ts';
import {
  CRD_SCHEMA,
  checkCustomResourceDefinition,
  completeCustomResourceDefinition,
} from './custom-resource-definitions.ts';
import {
  type BuiltIn,
  builtIn,
  CONDITIONS,
  integer,
  integerOrText,
  kind,
  LABEL_SELECTOR,
  object,
  open,
  openKind,
  review,
  text,
} from './kind-builders.ts';

const leaseSchema = kind('Lease defines a lease concept.', {
  spec: object('The holder of the lease.', {
    holderIdentity: text('The identity of the holder.'),
    leaseDurationSeconds: integer('Time after the last renewal before another candidate may acquire it.', {
      minimum: 1,
    }),
    acquireTime: { ...text('Time of acquisition, in microseconds.'), format: 'micro-time' },
    renewTime: { ...text('Time of the last renewal, in microseconds.'), format: 'micro-time' },
    leaseTransitions: integer('Number of changes of the holder.', { minimum: 0 }),
    strategy: text('Strategy of the election.'),
    preferredHolder: text('The preferred holder.'),
  }),
});

const budgetSchema = kind('PodDisruptionBudget limits how many pods are disrupted at once.', {
  spec: open('The desired behavior of the budget.', {
    minAvailable: integerOrText('How many pods must be left.'),
    maxUnavailable: integerOrText('How many pods may be missing.'),
    selector: LABEL_SELECTOR,
  }),
  status: open('The observed state.', { conditions: CONDITIONS }),
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
  schema: budgetSchema,
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
    schema: openKind('Rules by which requests from outside reach services.'),
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
    schema: CRD_SCHEMA,
    applyDefaults: completeCustomResourceDefinition,
    validate: checkCustomResourceDefinition,
  }),
];
