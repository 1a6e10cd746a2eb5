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
  spec: object('What is known of the holder.', {
    holderIdentity: text('Who holds it.'),
    leaseDurationSeconds: integer('How long others wait after the last renewal.', { minimum: 1 }),
    acquireTime: { ...text('When it was acquired, in microseconds.'), format: 'micro-time' },
    renewTime: { ...text('When it was last renewed, in microseconds.'), format: 'micro-time' },
    leaseTransitions: integer('How often it changed hands.', { minimum: 0 }),
    strategy: text('How the holder is elected.'),
    preferredHolder: text('Who should hold it instead.'),
  }),
});

const budgetSchema = kind('PodDisruptionBudget limits how many pods are disrupted at once.', {
  spec: open('What is wanted of the budget.', {
    minAvailable: integerOrText('How many pods must be left.'),
    maxUnavailable: integerOrText('How many pods may be missing.'),
    selector: LABEL_SELECTOR,
  }),
  status: open('What was last observed.', { conditions: CONDITIONS }),
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
  storedAs: 'policy/v1',
} as const;

/** All groups but the core one, those of workloads and autoscaling; in the order of discovery. */
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
    allowsBlindUpdates: false,
  }),
];

/** Reviews, certificates of nothing else: they are computed when they are asked for. */
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
    storedAs: 'v1',
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
  builtIn({ ...budgets, version: 'v1', since: 21 }),
  builtIn({
    ...budgets,
    version: 'v1beta1',
    until: 24,
    toStored: (budget) => ({ ...budget, apiVersion: 'policy/v1' }),
  }),
  builtIn({
    group: 'coordination.k8s.io',
    version: 'v1',
    resource: 'leases',
    kind: 'Lease',
    isNamespaced: true,
    allowsBlindUpdates: false,
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
    allowsBlindUpdates: false,
    initialStatus: { conditions: [], acceptedNames: { plural: '', kind: '' }, storedVersions: [] },
    schema: CRD_SCHEMA,
    complete: completeCustomResourceDefinition,
    check: checkCustomResourceDefinition,
  }),
];
