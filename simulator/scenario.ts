import { z } from 'zod';
import { faultSchema } from './kubelet/faults.ts';
import { MINORS } from './resources/kinds/built-in-types.ts';

const range = (from: number, to: number) =>
  z
    .strictObject({ from: z.number().int().nonnegative(), to: z.number().int().nonnegative() })
    .refine((value) => value.from <= value.to, { error: 'must not fall from `from` to `to`' })
    .default({ from, to });

const labels = z.record(z.string(), z.string());

/** `{ip}` and `{name}` are replaced by the node's own. */
const addresses = z.array(
  z.strictObject({
    type: z.enum(['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']),
    address: z.string(),
  }),
);

const certificate = z.enum(['valid', 'name-only', 'other-name', 'expired', 'not-yet-valid', 'self-signed']);

/** Differences of one node from the others. */
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
  /** Readings that its kubelet fails to take, and reports as 0. */
  unknown: z.array(z.enum(['cpu', 'memory'])).default([]),
});

/** One pod that the scenario defines in detail. */
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

/** The contents of a simulated cluster; every field has a default, and an unknown one is an error. */
const scenarioSchema = z.strictObject({
  /** Clusters with the same seed have the same pods with the same loads. */
  seed: z.number().int().default(1),
  /** The simulated minor version of Kubernetes 1, on which the served API versions depend. */
  kubernetesMinor: z.number().int().min(MINORS.oldest).default(MINORS.default),
  nodes: z.number().int().min(0).max(50_000).default(3),
  /** Time from the binding of a created pod to its readiness. */
  podStartupSeconds: z.number().nonnegative().default(0),
  podsPerNode: z.number().int().min(0).max(1_000).default(10),
  containersPerPod: z.number().int().min(1).max(100).default(1),
  /** Pods are distributed among these in turn; a number creates `team-1` to `team-n`. */
  namespaces: z
    .union([z.number().int().min(1), z.array(z.string()).min(1)])
    .default(['default', 'kube-system', 'monitoring']),
  /** Number of values of the label `app` in each namespace. */
  appsPerNamespace: z.number().int().min(1).default(5),
  /** The range for each container; the seed selects a value. */
  cpuMillicores: range(5, 250),
  memoryMebibytes: range(8, 256),
  /** Age of pods when the cluster starts. */
  startedSecondsAgo: range(60, 7200),
  nodeCpuCores: z.number().int().min(1).default(8),
  nodeMemoryGibibytes: z.number().int().min(1).default(32),
  /** 0 turns swap off; otherwise containers have a part of their memory there. */
  nodeSwapGibibytes: z.number().int().min(0).default(0),
  nodeLabels: labels.default({}),
  /**
   * Hostname is first in the server's default order of preference, so it must resolve without DNS: the default is the
   * address itself.
   */
  addresses: addresses.default([
    { type: 'InternalIP', address: '{ip}' },
    { type: 'Hostname', address: '{ip}' },
  ]),
  certificate: certificate.default('valid'),
  /**
   * The source of kubelets' container usage: `cri` reads it on request, as with containerd; `cadvisor` samples it every
   * 10 to 20 s.
   */
  runtime: z.enum(['cri', 'cadvisor']).default('cri'),
  /**
   * Feature gates of kubelets. Those before 1.34 have no `KubeletPSI`: their summaries have neither pressure nor IO.
   */
  featureGates: z.strictObject({ KubeletPSI: z.boolean().default(true) }).prefault({}),
  /** Kubelet endpoints that the service account of metrics-server may read. */
  kubeletAccess: z.array(z.enum(['nodes/metrics', 'nodes/stats'])).default(['nodes/metrics', 'nodes/stats']),
  /** Bearer tokens and their users, in addition to the service accounts of every cluster. */
  tokens: z.record(z.string(), tokenHolder).default({}),
  /** Grants in addition to those of every cluster; one with the name of an existing grant replaces it. */
  grants: z.array(grant).default([]),
  /** Differences of single nodes, by name (`node-1`, …). */
  nodeOverrides: z.record(z.string(), nodeOverrideSchema).default({}),
  /** Further pods. */
  pods: z.array(podSchema).default([]),
});

/** A complete scenario. */
export type Scenario = z.output<typeof scenarioSchema>;

/** A scenario as written, without defaults. */
export type ScenarioInput = z.input<typeof scenarioSchema>;

export type NodeOverride = z.output<typeof nodeOverrideSchema>;

/** A pod as written, without defaults. */
export type PodInput = z.input<typeof podSchema>;

/** A node as written, without defaults. */
export type NodeInput = z.input<typeof nodeOverrideSchema>;

/** @throws Error of one line with each invalid field and its rule */
export function parseScenario(input: unknown, source = 'scenario'): Scenario {
  const parsed = scenarioSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`);
  throw new Error(`Cannot use ${source}: ${issues.join('; ')}`);
}
