import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '#lib/telemetry/logger.ts';
import { type Clock, systemClock } from '#lib/time/clock.ts';
import { Authenticator, serviceAccount } from './access/authenticator.ts';
import { createClusterPki } from './access/certificate-authority.ts';
import { AUTOSCALER_USER, defaultGrants, METRICS_SERVER_USER } from './access/default-grants.ts';
import { Rbac } from './access/rbac.ts';
import {
  AGGREGATED_SERVERS,
  Aggregator,
  registerServer,
  type ServerAddress,
} from './api-server/aggregator.ts';
import { ApiServer } from './api-server/api-server.ts';
import { type ClusterFiles, formatKubeconfig, writeClusterFiles } from './cluster-files.ts';
import { Controllers } from './controllers/controllers.ts';
import { CustomResources } from './controllers/custom-resource-definition.ts';
import { createInitialObjects } from './initial-objects.ts';
import { type FaultInput, parseFault } from './kubelet/faults.ts';
import { steadyLoad } from './kubelet/running-container.ts';
import type { CertificateKind } from './kubelet/serving-certificate.ts';
import { type ContainerPath, Truth } from './nodes/actual-usage.ts';
import { NodeFleet, type SimulatedNode } from './nodes/node-fleet.ts';
import { PodRunner } from './nodes/pod-runner.ts';
import { planNode, planPod, planPods } from './nodes/population.ts';
import { Scheduler } from './nodes/scheduler.ts';
import type { KubernetesObject } from './objects/kubernetes-object.ts';
import { ObjectStore } from './objects/object-store.ts';
import { builtInTypes } from './resources/kinds/built-in-types.ts';
import { ResourceRegistry } from './resources/resource-type.ts';
import {
  type NodeInput,
  nodeOverrideSchema,
  type PodInput,
  parseScenario,
  type Scenario,
  type ScenarioInput,
} from './scenario.ts';

/** A running cluster and the actions on it. Dispose it to stop it. */
export class SimulatedCluster {
  readonly scenario: Scenario;
  readonly pki: ClusterParts['pki'];
  readonly store: ClusterParts['store'];
  /** The types that the API server serves itself. */
  readonly registry: ClusterParts['registry'];
  readonly rbac: ClusterParts['rbac'];
  readonly authenticator: ClusterParts['authenticator'];
  readonly aggregator: ClusterParts['aggregator'];
  readonly apiServer: ClusterParts['apiServer'];
  readonly truth: ClusterParts['truth'];
  /** The service account token of metrics-server. */
  readonly metricsServerToken: string;
  /** The service account token of the HorizontalPodAutoscaler controller. */
  readonly autoscalerToken: string;
  readonly #options: ClusterOptions;
  readonly #parts: ClusterParts;
  #files: ClusterFiles | undefined;
  #nextOrdinal = 1;

  constructor(scenario: Scenario, options: ClusterOptions) {
    this.scenario = scenario;
    this.#options = options;
    this.#parts = createClusterParts(scenario, options);
    const { pki, store, registry, rbac, authenticator, aggregator, apiServer, truth } = this.#parts;
    this.pki = pki;
    this.store = store;
    this.registry = registry;
    this.rbac = rbac;
    this.authenticator = authenticator;
    this.aggregator = aggregator;
    this.apiServer = apiServer;
    this.truth = truth;
    this.metricsServerToken = this.#issueToken(METRICS_SERVER_USER);
    this.autoscalerToken = this.#issueToken(AUTOSCALER_USER);
  }

  /** URL of the API server: `https://HOST:PORT`. */
  get server(): string {
    const { address, port } = this.apiServer.endpoint;
    return `https://${address}:${port}`;
  }

  /** The one port on which all kubelets listen. */
  get kubeletPort(): number {
    return this.#parts.fleet.kubeletPort;
  }

  /** The administrator's kubeconfig. */
  get kubeconfig(): string {
    return this.kubeconfigFor('kubernetes-admin', this.pki.admin);
  }

  /** Files with credentials and CA certificates, in a directory that is removed with the cluster. */
  get files(): ClusterFiles {
    if (!this.#files) throw new Error('Cannot name the files of a cluster that has not started');
    return this.#files;
  }

  /** Used by {@link startCluster}, which disposes a cluster that fails to start. */
  async start(): Promise<void> {
    createInitialObjects(this.store, this);
    for (let ordinal = 1; ordinal <= this.scenario.nodes; ordinal++) await this.addNode();
    // The first objects have no history, as in a compacted store.
    this.store.compact();
    const { address = '127.0.0.1', port = 0, metricsServer, autoscaler } = this.#options;
    await this.apiServer.start(address, port);
    if (metricsServer) this.registerMetricsServer(metricsServer);
    if (autoscaler) registerServer(this.aggregator, AGGREGATED_SERVERS.autoscaler, autoscaler);
    this.#files = await writeClusterFiles(await mkdtemp(join(tmpdir(), 'simulated-cluster-')), {
      pki: this.pki,
      kubeconfig: this.kubeconfig,
      metricsServerKubeconfig: this.kubeconfigFor('metrics-server', { token: this.metricsServerToken }),
    });
  }

  /** A kubeconfig for this cluster with any credentials. */
  kubeconfigFor(
    user: string,
    credentials:
      | { readonly token: string }
      | { readonly certificatePem: string; readonly privateKeyPem: string },
  ): string {
    const serverCaPem = this.pki.serverCa.certificatePem;
    return formatKubeconfig({ server: this.server, serverCaPem, user, credentials });
  }

  /** Sends requests for metrics.k8s.io/v1beta1 to a server from now on. */
  registerMetricsServer(at: ServerAddress): void {
    registerServer(this.aggregator, AGGREGATED_SERVERS.metricsServer, at);
  }

  /**
   * Adds a node with its pods by the scenario.
   *
   * @param name `node-` and a number by default
   * @returns its name
   */
  async addNode(name?: string, input?: NodeInput): Promise<string> {
    const ordinal = this.#nextOrdinal++;
    const plan = planNode(this.scenario, ordinal, {
      ...(name === undefined ? {} : { name }),
      ...(input === undefined ? {} : { override: nodeOverrideSchema.parse(input) }),
    });
    await this.#parts.fleet.add(plan);
    const isTaken = (namespace: string, pod: string) => this.store.get('pods', namespace, pod) !== undefined;
    for (const pod of planPods(this.scenario, plan, isTaken))
      this.#parts.workloads.add(pod, { startsNow: false });
    return plan.name;
  }

  /** Moves a node's kubelet to another address or port; a part that is not given does not change. */
  async moveNode(name: string, to: { readonly address?: string; readonly port?: number }): Promise<void> {
    await this.#parts.fleet.move(name, { ...this.node(name).kubelet.endpoint, ...to });
  }

  /** Removes a node with its kubelet and pods. */
  async removeNode(name: string): Promise<void> {
    await this.#parts.fleet.remove(name);
    for (const { metadata, spec } of this.store.list('pods').items) {
      if ((spec as { nodeName?: string }).nodeName === name)
        this.deletePod(metadata.namespace ?? '', metadata.name);
    }
  }

  /** @throws Error when there is no such node */
  node(name: string): SimulatedNode {
    const node = this.#parts.fleet.get(name);
    if (!node) throw new Error(`Cannot find node "${name}" in the simulated cluster`);
    return node;
  }

  /** All nodes, in the order in which they were added. */
  nodes(): Iterable<SimulatedNode> {
    return this.#parts.fleet.values();
  }

  /** Creates a pod that runs from now on, or since `startedSecondsAgo`. */
  addPod(input: PodInput): KubernetesObject {
    return this.#parts.workloads.add(planPod(this.scenario, input), { startsNow: true });
  }

  deletePod(namespace: string, name: string): void {
    this.store.delete('pods', namespace, name);
  }

  /** Restarts a container: its counters fall to zero, and the restart count of its pod rises. */
  restartContainer(path: ContainerPath): void {
    this.#parts.workloads.restart(this.truth.container(path), path);
  }

  /** Changes the load of a container. */
  setLoad(path: ContainerPath, { cpuMillicores, memoryBytes }: SteadyUsage): void {
    this.truth
      .container(path)
      .changeLoad(steadyLoad(cpuMillicores, memoryBytes), this.#parts.clock.monotonicMs());
  }

  /** Replaces a kubelet's faults; without any it is healthy. */
  async setFault(nodeName: string, ...faults: readonly FaultInput[]): Promise<void> {
    await this.node(nodeName).kubelet.setFaults(faults.map(parseFault));
  }

  /** Replaces a kubelet's certificate for new connections. */
  setCertificate(nodeName: string, kind: CertificateKind): void {
    const node = this.node(nodeName);
    node.certificateKind = kind;
    node.kubelet.renewCertificate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#parts.controllers[Symbol.dispose]();
    this.#parts.scheduler[Symbol.dispose]();
    this.#parts.customResources[Symbol.dispose]();
    this.#parts.workloads[Symbol.dispose]();
    await this.aggregator[Symbol.asyncDispose]();
    await this.apiServer[Symbol.asyncDispose]();
    await this.#parts.fleet[Symbol.asyncDispose]();
    if (this.#files) await rm(this.#files.directory, { recursive: true, force: true });
  }

  #issueToken(user: string): string {
    const [, , namespace = '', name = ''] = user.split(':');
    const token = randomBytes(32).toString('base64url');
    this.authenticator.setToken(token, serviceAccount(namespace, name, randomUUID()));
    return token;
  }
}

const SILENT: Logger = { info: () => {}, warning: () => {}, error: () => {} };

/**
 * Starts a cluster that consists of an API server and kubelets on loopback addresses.
 *
 * @throws Error when the scenario is invalid or a port is in use
 */
export async function startCluster(
  scenario: ScenarioInput = {},
  options: ClusterOptions = {},
): Promise<SimulatedCluster> {
  const cluster = new SimulatedCluster(parseScenario(scenario), options);
  try {
    await cluster.start();
    return cluster;
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
}

/** Clock and addresses of a cluster. */
interface ClusterOptions {
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Address of the API server; 127.0.0.1 by default. */
  readonly address?: string;
  /** Port of the API server; 0, the default, for any free port. */
  readonly port?: number;
  /** Port of all kubelets; 0, the default, for any free port. */
  readonly kubeletPort?: number;
  /** Address of the server of metrics.k8s.io. */
  readonly metricsServer?: ServerAddress;
  /** Address of the server of custom.metrics.k8s.io and external.metrics.k8s.io. */
  readonly autoscaler?: ServerAddress;
}

type ClusterParts = ReturnType<typeof createClusterParts>;

/** Creates the parts of a cluster and starts none. */
function createClusterParts(
  scenario: Scenario,
  { clock = systemClock, logger = SILENT, address = '127.0.0.1', kubeletPort = 0 }: ClusterOptions,
) {
  const pki = createClusterPki([...new Set([address, '127.0.0.1'])]);
  const store = new ObjectStore(clock);
  const registry = new ResourceRegistry(builtInTypes(scenario.kubernetesMinor));
  const rbac = new Rbac([...defaultGrants(scenario.kubeletAccess), ...scenario.grants]);
  const authenticator = new Authenticator();
  for (const [token, holder] of Object.entries(scenario.tokens)) authenticator.setToken(token, holder);
  const customResources = new CustomResources({ clock, logger, store, registry });
  const aggregator = new Aggregator({ clock, logger, store, identity: pki.frontProxy });
  const minor = scenario.kubernetesMinor;
  const served = { pki, store, registry, minor, authenticator, rbac, aggregator };
  const apiServer = new ApiServer({ clock, logger, ...served });
  const fleet = new NodeFleet({
    ...{ clock, scenario, store, pki, kubeletPort },
    gate: {
      authenticate: (credentials) => authenticator.authenticate(credentials),
      isAllowed: (caller, request) => rbac.decide(caller, request).isAllowed,
    },
  });
  const workloads = new PodRunner({ clock, store, scenario, node: (name) => fleet.get(name) });
  const scheduler = new Scheduler({
    ...{ clock, store, nodes: () => fleet.values() },
    podStartupMs: scenario.podStartupSeconds * 1000,
  });
  const controllers = new Controllers({ clock, store, registry, logger });
  const truth = new Truth(clock, () => [...fleet.values()].map(({ machine }) => machine));
  const simulated = { customResources, fleet, workloads, scheduler, controllers, truth };
  return { clock, ...served, apiServer, ...simulated };
}

/** A constant load. */
interface SteadyUsage {
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
}
