import type { MissingReading } from '../kubelet/running-container.ts';
import { seededBetween, seededFraction, seededSuffix } from '../random.ts';
import { type NodeOverride, type PodInput, podSchema, type Scenario } from '../scenario.ts';
import type { PodPhase } from './pod-object.ts';

/** The plan of a node. */
export interface NodePlan {
  readonly name: string;
  readonly ordinal: number;
  /** The address of its kubelet. */
  readonly address: string;
  readonly addresses: readonly { readonly type: string; readonly address: string }[];
  readonly override: NodeOverride;
}

/** The plan of a pod. */
export interface PodPlan {
  readonly namespace: string;
  readonly name: string;
  readonly generateName?: string;
  readonly nodeName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly phase: PodPhase;
  readonly startedMsAgo: number;
  readonly containers: readonly ContainerPlan[];
}

/** The plan of a container and its load. */
export interface ContainerPlan {
  readonly name: string;
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  readonly swapBytes: number;
  readonly unknown: readonly MissingReading[];
}

const PAGE_BYTES = 4096;
const MEBIBYTE = 1024 * 1024;
/** Up to 16 MiB of a container are in swap, where the node has swap. */
const SWAPPED_PAGES = { from: 1, to: 4096 };

/** @param ordinal from 1; the name is `node-` and this number by default */
export function planNode(
  scenario: Scenario,
  ordinal: number,
  given: { readonly name?: string; readonly override?: NodeOverride } = {},
): NodePlan {
  const name = given.name ?? `node-${ordinal}`;
  const override = given.override ?? scenario.nodeOverrides[name] ?? {};
  const address = nodeAddress(ordinal);
  const addresses = (override.addresses ?? scenario.addresses).map((one) => ({
    address: one.address.replaceAll('{ip}', address).replaceAll('{name}', name),
    type: one.type,
  }));
  return { name, ordinal, address, addresses, override };
}

/**
 * Plans the pods that a node has when the cluster starts.
 *
 * @param isTaken whether the name exists: suffixes are short enough to collide
 */
export function* planPods(
  scenario: Scenario,
  node: NodePlan,
  isTaken: (namespace: string, name: string) => boolean,
): Generator<PodPlan> {
  const count = node.override.pods ?? scenario.podsPerNode;
  for (let index = 0; index < count; index++) yield planDealtPod(scenario, node, index, isTaken);
  for (const pod of scenario.pods) if (pod.node === node.name) yield planPod(scenario, pod);
}

/** Plans one pod; fields that the input does not set come from the seed. */
export function planPod(scenario: Scenario, input: PodInput): PodPlan {
  const pod = podSchema.parse(input);
  const names = pod.containers ?? containerNames(scenario).map((name) => ({ name, unknown: [] }));
  const { startedSecondsAgo = 0 } = pod;
  return {
    namespace: pod.namespace,
    name: pod.name,
    nodeName: pod.node,
    labels: pod.labels,
    phase: pod.phase,
    startedMsAgo: startedSecondsAgo * 1000,
    containers: names.map((container) => ({
      ...planContainer(scenario, pod, container.name),
      ...container,
    })),
  };
}

/** The load of a container by the seed. */
export function planContainer(
  { seed, cpuMillicores, memoryMebibytes, nodeSwapGibibytes }: Scenario,
  pod: { readonly namespace: string; readonly name: string },
  name: string,
): ContainerPlan {
  const { from, to } = memoryMebibytes;
  const pages = { from: (from * MEBIBYTE) / PAGE_BYTES, to: (to * MEBIBYTE) / PAGE_BYTES };
  const swappedPages = seededBetween(SWAPPED_PAGES, seed, 'swap', pod.namespace, pod.name, name);
  return {
    name,
    cpuMillicores: seededBetween(cpuMillicores, seed, 'cpu', pod.namespace, pod.name, name),
    memoryBytes: PAGE_BYTES * seededBetween(pages, seed, 'memory', pod.namespace, pod.name, name),
    swapBytes: nodeSwapGibibytes === 0 ? 0 : PAGE_BYTES * swappedPages,
    unknown: [],
  };
}

/** The first namespaces of a cluster. */
export function planNamespaces(scenario: Scenario): readonly string[] {
  const always = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];
  return [
    ...new Set([...always, ...podNamespaces(scenario), ...scenario.pods.map(({ namespace }) => namespace)]),
  ];
}

function podNamespaces({ namespaces }: Scenario): readonly string[] {
  return typeof namespaces === 'number'
    ? Array.from({ length: namespaces }, (_, index) => `team-${index + 1}`)
    : namespaces;
}

function planDealtPod(
  scenario: Scenario,
  node: NodePlan,
  index: number,
  isTaken: (namespace: string, name: string) => boolean,
): PodPlan {
  const { seed, appsPerNamespace, startedSecondsAgo } = scenario;
  const namespaces = podNamespaces(scenario);
  const deal = (node.ordinal - 1) * scenario.podsPerNode + index;
  const namespace = namespaces[deal % namespaces.length] ?? 'default';
  const app = `app-${(Math.floor(deal / namespaces.length) % appsPerNamespace) + 1}`;
  const templateHash = seededSuffix(10, seed, namespace, app);
  const generateName = `${app}-${templateHash}-`;
  let name = `${generateName}${seededSuffix(5, seed, node.name, index)}`;
  for (let attempt = 1; isTaken(namespace, name); attempt++) {
    name = `${generateName}${seededSuffix(5, seed, node.name, index, attempt)}`;
  }
  const agoMs = 1000 * seededBetween(startedSecondsAgo, seed, 'start', node.name, index);
  return {
    namespace,
    name,
    generateName,
    nodeName: node.name,
    labels: { app, 'pod-template-hash': templateHash, tier: deal % 2 === 0 ? 'web' : 'worker' },
    phase: 'Running',
    startedMsAgo: agoMs + seededFraction(seed, 'fraction', node.name, index) * 1000,
    containers: containerNames(scenario).map((container) =>
      planContainer(scenario, { namespace, name }, container),
    ),
  };
}

function containerNames({ containersPerPod }: Scenario): readonly string[] {
  return Array.from({ length: containersPerPod }, (_, index) => (index === 0 ? 'main' : `sidecar-${index}`));
}

/**
 * The loopback address of a node. All of 127.0.0.0/8 is this machine, so that each kubelet has its own address and all
 * have the same port.
 *
 * @param ordinal 1 for the first node, 127.1.0.1
 */
export function nodeAddress(ordinal: number): string {
  return `127.${1 + (ordinal >> 16)}.${(ordinal >> 8) & 0xff}.${ordinal & 0xff}`;
}

/** A pod address of the node's range; nothing listens there. */
export function podAddress(nodeOrdinal: number): string {
  return `10.${128 + (nodeOrdinal >> 8)}.${nodeOrdinal & 0xff}.2`;
}
