/** A resource that the API server stores or computes, as discovery describes it. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  /** Plural, as in paths. */
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** What a new object has for a status that comes without one. */
  readonly initialStatus?: Readonly<Record<string, unknown>>;
}

const STORED = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

/** Everything that the simulator's API server serves itself, in the order of the real server's discovery. */
export const RESOURCE_TYPES: readonly ResourceType[] = [
  {
    group: '',
    version: 'v1',
    resource: 'configmaps',
    singular: 'configmap',
    kind: 'ConfigMap',
    isNamespaced: true,
    verbs: STORED,
    shortNames: ['cm'],
  },
  {
    group: '',
    version: 'v1',
    resource: 'namespaces',
    singular: 'namespace',
    kind: 'Namespace',
    isNamespaced: false,
    verbs: STORED,
    shortNames: ['ns'],
    initialStatus: { phase: 'Active' },
  },
  {
    group: '',
    version: 'v1',
    resource: 'nodes',
    singular: 'node',
    kind: 'Node',
    isNamespaced: false,
    verbs: STORED,
    shortNames: ['no'],
  },
  {
    group: '',
    version: 'v1',
    resource: 'pods',
    singular: 'pod',
    kind: 'Pod',
    isNamespaced: true,
    verbs: STORED,
    shortNames: ['po'],
    categories: ['all'],
    initialStatus: { phase: 'Pending', qosClass: 'BestEffort' },
  },
  {
    group: 'apiregistration.k8s.io',
    version: 'v1',
    resource: 'apiservices',
    singular: 'apiservice',
    kind: 'APIService',
    isNamespaced: false,
    verbs: STORED,
    categories: ['api-extensions'],
  },
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    resource: 'selfsubjectreviews',
    singular: 'selfsubjectreview',
    kind: 'SelfSubjectReview',
    isNamespaced: false,
    verbs: ['create'],
  },
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    resource: 'tokenreviews',
    singular: 'tokenreview',
    kind: 'TokenReview',
    isNamespaced: false,
    verbs: ['create'],
  },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    resource: 'selfsubjectaccessreviews',
    singular: 'selfsubjectaccessreview',
    kind: 'SelfSubjectAccessReview',
    isNamespaced: false,
    verbs: ['create'],
  },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    resource: 'subjectaccessreviews',
    singular: 'subjectaccessreview',
    kind: 'SubjectAccessReview',
    isNamespaced: false,
    verbs: ['create'],
  },
];

/** @returns `undefined` when no such resource is served here */
export function resourceType(group: string, version: string, resource: string): ResourceType | undefined {
  return RESOURCE_TYPES.find(
    (type) => type.group === group && type.version === version && type.resource === resource,
  );
}

/** `v1` or `group/v1`. */
export function groupVersion({
  group,
  version,
}: {
  readonly group: string;
  readonly version: string;
}): string {
  return group ? `${group}/${version}` : version;
}
