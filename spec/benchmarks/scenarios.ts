/** A cluster to measure the server on. */
export interface BenchmarkScenario {
  readonly name: string;
  readonly nodes: number;
  readonly podsPerNode: number;
  readonly containersPerPod: number;
  /** Pods are dealt out to them evenly: 600 to each in all clusters but the smallest. */
  readonly namespaces: number;
  /** The pods of a namespace are dealt out to these: 60 to each. An autoscaler looks after one app. */
  readonly appsPerNamespace: number;
}

/** How often servers scrape; the reference's manifests have it, too. */
export const RESOLUTION_MS = 15_000;

/** Every scenario by size, the smallest first. */
export const SCENARIOS: readonly BenchmarkScenario[] = [
  { name: 'tiny', nodes: 1, podsPerNode: 10, containersPerPod: 1, namespaces: 3, appsPerNamespace: 5 },
  { name: 'small', nodes: 10, podsPerNode: 10, containersPerPod: 1, namespaces: 3, appsPerNamespace: 5 },
  { name: 'medium', nodes: 100, podsPerNode: 30, containersPerPod: 2, namespaces: 5, appsPerNamespace: 10 },
  { name: 'large', nodes: 1_000, podsPerNode: 30, containersPerPod: 2, namespaces: 50, appsPerNamespace: 10 },
  { name: 'huge', nodes: 5_000, podsPerNode: 30, containersPerPod: 2, namespaces: 250, appsPerNamespace: 10 },
];

/** A cluster in one line. */
export function describeScenario(scenario: BenchmarkScenario): string {
  const { nodes, podsPerNode, containersPerPod, namespaces, appsPerNamespace } = scenario;
  return `${nodes} nodes × ${podsPerNode} pods × ${containersPerPod} containers, ${namespaces} namespaces × ${appsPerNamespace} apps`;
}

/** What runs when no scenario is named: small clusters, as most are. */
export const DEFAULT_SCENARIOS: readonly string[] = ['tiny', 'small'];

/** The media types of the formats in which responses may be written. */
export const MEDIA_TYPES = {
  json: 'application/json',
  protobuf: 'application/vnd.kubernetes.protobuf',
} as const;

/** How responses are written. */
export type Format = keyof typeof MEDIA_TYPES;

export const FORMATS: readonly Format[] = ['json', 'protobuf'];

/** One kind of request and how many ask it at a time. */
export interface RequestKind {
  /** By which it is chosen. */
  readonly key: string;
  readonly name: string;
  readonly path: string;
  readonly clients: number;
  /** Of what the responses are made. */
  readonly about: 'nodes' | 'pods';
}

const API = '/apis/metrics.k8s.io/v1beta1';

/** What an autoscaler asks. */
export const LIST_BY_LABEL = `${API}/namespaces/NAMESPACE/pods?labelSelector=SELECTOR`;

/** The requests that servers are measured with; words in capitals stand for what the cluster really has. */
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
