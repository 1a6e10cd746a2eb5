import { z } from 'zod';
import { faultSchema } from './kubelet/faults.ts';
import { MINORS } from './resources/kinds/built-in-types.ts';

const range = (from: number, to: number) =>
  z
    .strictObject({ from: z.number().int().nonnegative(), to: z.number().int().nonnegative() })
    .refine((value) => value.from <= value.to, { error: 'must not fall from `from` to `to`' })
    .default({ from, to });

const labels = z.record(z.string(), z.string());

/** `{ip}` and `{name}` stand for the node's own. */
const addresses = z.array(
  z.strictObject({
    type: z.enum(['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']),
    address: z.string(),
  }),
);

const certificate = z.enum(['valid', 'name-only', 'other-name', 'expired', 'not-yet-valid', 'self-signed']);

/** What can be said of one node apart from the rest. */
export const nodeOverrideSchema = z.strictObject({
  labels: labels.exactOptional(),
  addresses: addresses.exactOptional(),
  certificate: certificate.exactOptional(),
  pods: z.number().int().nonnegative().exactOptional(),
  clockSkewMs: z.number().int().exactOptional(),
  isReady: z.boolean().exactOptional(),
  faults: z.array(faultSchema).exactOptional(),
});

const containerOverride = z.strictObject({
  name: z.string(),
  cpuMillicores: z.number().nonnegative().exactOptional(),
  memoryBytes: z.number().int().nonnegative().exactOptional(),
  swapBytes: z.number().int().nonnegative().exactOptional(),
  /** What its kubelet fails to learn of it, and reports as 0. */
  unknown: z.array(z.enum(['cpu', 'memory'])).default([]),
});

/** One pod of which more is said than that it exists. */
export const podSchema = z.strictObject({
  namespace: z.string().default('default'),
  name: z.string(),
  node: z.string(),
  labels: labels.default({}),
  phase: z.enum(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown']).default('Running'),
  startedSecondsAgo: z.number().nonnegative().exactOptional(),
  containers: z.array(containerOverride).min(1).exactOptional(),
});

const strings = z.array(z.string());

const tokenHolder = z.strictObject({
  username: z.string(),
  uid: z.string().exactOptional(),
  groups: strings.exactOptional(),
});

const rule = z.strictObject({
  verbs: strings,
  apiGroups: strings.exactOptional(),
  resources: strings.exactOptional(),
  resourceNames: strings.exactOptional(),
  nonResourceURLs: strings.exactOptional(),
});

const grant = z.strictObject({
  name: z.string(),
  role: z.string(),
  users: strings.exactOptional(),
  groups: strings.exactOptional(),
  namespace: z.string().exactOptional(),
  rules: z.array(rule),
});

/** What a simulated cluster is made of; every field has a default, and an unknown one is an error. */
const scenarioSchema = z.strictObject({
  /** Two clusters of one seed have the same pods under the same loads. */
  seed: z.number().int().default(1),
  /** Which Kubernetes 1 the API server behaves like: what it serves differs, as versions of autoscaling. */
  kubernetesMinor: z.number().int().min(MINORS.oldest).default(MINORS.default),
  nodes: z.number().int().min(0).max(50_000).default(3),
  /** How long a pod that somebody creates takes from being bound to a node to being ready. */
  podStartupSeconds: z.number().nonnegative().default(0),
  podsPerNode: z.number().int().min(0).max(1_000).default(10),
  containersPerPod: z.number().int().min(1).max(100).default(1),
  /** Pods are dealt out to these in turn; a number makes `team-1` to `team-n`. */
  namespaces: z
    .union([z.number().int().min(1), z.array(z.string()).min(1)])
    .default(['default', 'kube-system', 'monitoring']),
  /** How many values the label `app` has in each namespace. */
  appsPerNamespace: z.number().int().min(1).default(5),
  /** Of each container, told apart by the seed. */
  cpuMillicores: range(5, 250),
  memoryMebibytes: range(8, 256),
  /** How long ago pods started when the cluster does. */
  startedSecondsAgo: range(60, 7200),
  nodeCpuCores: z.number().int().min(1).default(8),
  nodeMemoryGibibytes: z.number().int().min(1).default(32),
  /** 0 turns swap off; else containers have some of their memory there. */
  nodeSwapGibibytes: z.number().int().min(0).default(0),
  nodeLabels: labels.default({}),
  /**
   * Hostname comes first in the server's default order of preference, so it must resolve without DNS: by
   * default it is the address itself.
   */
  addresses: addresses.default([
    { type: 'InternalIP', address: '{ip}' },
    { type: 'Hostname', address: '{ip}' },
  ]),
  certificate: certificate.default('valid'),
  /**
   * Where kubelets have container usage from: `cri` reads it when asked, as with containerd; `cadvisor` samples
   * it every 10 to 20 s.
   */
  runtime: z.enum(['cri', 'cadvisor']).default('cri'),
  /** Of kubelets. Those before 1.34 have no `KubeletPSI`: their summaries tell neither pressure nor IO. */
  featureGates: z.strictObject({ KubeletPSI: z.boolean().default(true) }).prefault({}),
  /** Which kubelet endpoints the service account of metrics-server may read. */
  kubeletAccess: z.array(z.enum(['nodes/metrics', 'nodes/stats'])).default(['nodes/metrics', 'nodes/stats']),
  /** Bearer tokens and who holds them, beside the service accounts of every cluster. */
  tokens: z.record(z.string(), tokenHolder).default({}),
  /** What is granted to whom beside what every cluster grants; one of a name that is known replaces that. */
  grants: z.array(grant).default([]),
  /** Differences of single nodes, by name (`node-1` and on). */
  nodeOverrides: z.record(z.string(), nodeOverrideSchema).default({}),
  /** Pods beside those that are dealt out. */
  pods: z.array(podSchema).default([]),
});

/** A complete scenario. */
export type Scenario = z.output<typeof scenarioSchema>;

/** What one writes of it. */
export type ScenarioInput = z.input<typeof scenarioSchema>;

/** How one node differs from the rest. */
export type NodeOverride = z.output<typeof nodeOverrideSchema>;

/** A pod to be added to a cluster. */
export type PodInput = z.input<typeof podSchema>;

/** What one writes of a node. */
export type NodeInput = z.input<typeof nodeOverrideSchema>;

/** @throws Error naming each wrong field and its rule, on one line */
export function parseScenario(input: unknown, source = 'scenario'): Scenario {
  const parsed = scenarioSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`);
  throw new Error(`Cannot use ${source}: ${issues.join('; ')}`);
}
