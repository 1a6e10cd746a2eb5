/** A cluster on which to measure the server. */
export interface BenchmarkScenario {
  readonly name: string;
  readonly nodes: number;
  readonly podsPerNode: number;
  readonly containersPerPod: number;
  /** Pods are distributed evenly: 600 per namespace in all but the smallest cluster. */
  readonly namespaces: number;
  /** The pods of a namespace are distributed evenly over its apps: 60 each. An autoscaler scales one app. */
  readonly appsPerNamespace: number;
}

/** Scraping interval, equal to the one in the reference's manifests. */
export const RESOLUTION_MS = 15_000;

/** All scenarios by size, the smallest first. */
export const SCENARIOS: readonly BenchmarkScenario[] = [
  { name: 'tiny', nodes: 1, podsPerNode: 10, containersPerPod: 1, namespaces: 3, appsPerNamespace: 5 },
  { name: 'small', nodes: 10, podsPerNode: 10, containersPerPod: 1, namespaces: 3, appsPerNamespace: 5 },
  { name: 'medium', nodes: 100, podsPerNode: 30, containersPerPod: 2, namespaces: 5, appsPerNamespace: 10 },
  { name: 'large', nodes: 1_000, podsPerNode: 30, containersPerPod: 2, namespaces: 50, appsPerNamespace: 10 },
  { name: 'huge', nodes: 5_000, podsPerNode: 30, containersPerPod: 2, namespaces: 250, appsPerNamespace: 10 },
];

/** Describes a cluster in one line. */
export function describeScenario(scenario: BenchmarkScenario): string {
  const { nodes, podsPerNode, containersPerPod, namespaces, appsPerNamespace } = scenario;
  return `${nodes} nodes × ${podsPerNode} pods × ${containersPerPod} containers, ${namespaces} namespaces × ${appsPerNamespace} apps`;
}

/** Scenarios that run by default: small clusters, as most are. */
export const DEFAULT_SCENARIOS: readonly string[] = ['tiny', 'small'];

/** Media types of the response formats. */
export const MEDIA_TYPES = {
  json: 'application/json',
  protobuf: 'application/vnd.kubernetes.protobuf',
} as const;

export type Format = keyof typeof MEDIA_TYPES;

export const FORMATS: readonly Format[] = ['json', 'protobuf'];

/** A kind of request, and its concurrency. */
export interface RequestKind {
  /** Name on the command line. */
  readonly key: string;
  readonly name: string;
  readonly path: string;
  readonly clients: number;
  /** Resource in the responses. */
  readonly about: 'nodes' | 'pods';
}

const API = '/apis/metrics.k8s.io/v1beta1';

/** Request of an autoscaler. */
export const LIST_BY_LABEL = `${API}/namespaces/NAMESPACE/pods?labelSelector=SELECTOR`;

/** Requests to measure. Words in capitals are placeholders for names in the cluster. */
export const REQUEST_KINDS: readonly RequestKind[] = [
  { key: 'pods', name: 'list all pods', path: `${API}/pods`, clients: 1, about: 'pods' },
  {
    key: 'namespace',
    name: 'list one namespace',
    path: `${API}/namespaces/NAMESPACE/pods`,
    clients: 4,
    about: 'pods',
  },
  { key: 'label', name: 'list by label, as an HPA', path: LIST_BY_LABEL, clients: 4, about: 'pods' },
  {
    key: 'pod',
    name: 'get one pod',
    path: `${API}/namespaces/NAMESPACE/pods/POD`,
    clients: 4,
    about: 'pods',
  },
  { key: 'nodes', name: 'list all nodes', path: `${API}/nodes`, clients: 2, about: 'nodes' },
];
