/** A cluster to measure the server on. */
export interface BenchmarkScenario {
  readonly name: string;
  readonly nodes: number;
  readonly podsPerNode: number;
  readonly containersPerPod: number;
}

/** Every scenario by size, the smallest first. */
export const SCENARIOS: readonly BenchmarkScenario[] = [
  { name: 'tiny', nodes: 1, podsPerNode: 10, containersPerPod: 1 },
  { name: 'small', nodes: 10, podsPerNode: 10, containersPerPod: 1 },
  { name: 'medium', nodes: 100, podsPerNode: 30, containersPerPod: 2 },
  { name: 'large', nodes: 1_000, podsPerNode: 30, containersPerPod: 2 },
  { name: 'huge', nodes: 5_000, podsPerNode: 30, containersPerPod: 2 },
];

/** What runs when no scenario is named: small clusters, as most are, in some three minutes. */
export const DEFAULT_SCENARIOS: readonly string[] = ['tiny', 'small'];

/** One kind of question and how many ask it at a time. */
export interface RequestKind {
  readonly name: string;
  readonly path: string;
  readonly clients: number;
}

const API = '/apis/metrics.k8s.io/v1beta1';

/** The questions that servers are measured with; words in capitals stand for what the cluster really has. */
export const REQUEST_KINDS: readonly RequestKind[] = [
  { name: 'list all pods', path: `${API}/pods`, clients: 1 },
  { name: 'list one namespace', path: `${API}/namespaces/NAMESPACE/pods`, clients: 4 },
  {
    name: 'list by label, as an HPA',
    path: `${API}/namespaces/NAMESPACE/pods?labelSelector=SELECTOR`,
    clients: 4,
  },
  { name: 'get one pod', path: `${API}/namespaces/NAMESPACE/pods/POD`, clients: 4 },
  { name: 'list all nodes', path: `${API}/nodes`, clients: 2 },
];
