import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serviceAccount } from '../access/authenticator.ts';
import { AUTOSCALER_USER, METRICS_SERVER_USER } from '../access/default-grants.ts';
import { AGGREGATED_SERVERS, registerServer } from '../api-server/aggregation/aggregator.ts';
import { type ClusterFiles, formatKubeconfig, writeClusterFiles } from '../cluster-files.ts';
import { createInitialObjects } from '../initial-objects.ts';
import { type FaultInput, faultOf } from '../kubelet/faults.ts';
import type { CertificateKind } from '../kubelet/serving-certificate.ts';
import { steadyLoad } from '../machine/running-container.ts';
import type { ContainerPath } from '../nodes/actual-usage.ts';
import type { SimulatedNode } from '../nodes/node-fleet.ts';
import { withFinishedContainers } from '../nodes/pod-object.ts';
import { planNode, planPod, planPods } from '../nodes/population.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { type NodeInput, nodeOverrideSchema, type PodInput, type Scenario } from '../scenario.ts';
import type { ClusterOptions, ServerAddress } from './cluster-options.ts';
import { type ClusterParts, createClusterParts } from './cluster-parts.ts';

/** A running cluster, and everything that can be done to it. Dispose it to end it. */
export class SimulatedCluster {
  readonly scenario: Scenario;
  readonly pki: ClusterParts['pki'];
  readonly store: ClusterParts['store'];
  /** What the API server serves itself. */
  readonly registry: ClusterParts['registry'];
  readonly rbac: ClusterParts['rbac'];
  readonly authenticator: ClusterParts['authenticator'];
  readonly aggregator: ClusterParts['aggregator'];
  readonly apiServer: ClusterParts['apiServer'];
  readonly truth: ClusterParts['truth'];
  /** The service account token of metrics-server. */
  readonly metricsServerToken: string;
  /** The service account token of the controller that scales by metrics. */
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

  /** Where the API server listens: `https://HOST:PORT`. */
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

  /** Files with credentials and CA certificates, in a directory that goes with the cluster. */
  get files(): ClusterFiles {
    if (!this.#files) throw new Error('Cannot name the files of a cluster that has not started');
    return this.#files;
  }

  /** Used by {@link startCluster}, which undoes a start that fails. */
  async start(): Promise<void> {
    createInitialObjects(this.store, this);
    for (let ordinal = 1; ordinal <= this.scenario.nodes; ordinal++) await this.addNode();
    // What was there from the start has no history, as in a cluster that was compacted.
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

  /** A kubeconfig for this cluster with whatever credentials. */
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
   * Adds a node with the pods that the scenario gives it.
   *
   * @param name `node-` and a number unless given
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
      this.#parts.workloads.add(pod, { isNewHere: false });
    return plan.name;
  }

  /** Takes a node's kubelet to another address or port; what is not given stays. */
  async moveNode(name: string, to: { readonly address?: string; readonly port?: number }): Promise<void> {
    await this.#parts.fleet.move(name, { ...this.node(name).kubelet.endpoint, ...to });
  }

  /** Takes a node away, with its kubelet and the pods bound to it. */
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
    return this.#parts.workloads.add(planPod(this.scenario, input), { isNewHere: true });
  }

  deletePod(namespace: string, name: string): void {
    this.store.delete('pods', namespace, name);
  }

  /** Ends a pod's containers, as those of a Job's pods end. */
  finishPod(namespace: string, name: string, phase: 'Succeeded' | 'Failed'): void {
    const pod = this.store.get('pods', namespace, name);
    if (!pod) throw new Error(`Cannot finish pod "${namespace}/${name}": there is none`);
    this.store.update('pods', withFinishedContainers(pod, { phase, atMs: this.#parts.clock.nowMs() }));
  }

  /** Starts a container again: its counters fall to zero and its pod counts one restart more. */
  restartContainer(path: ContainerPath): void {
    this.#parts.workloads.restart(this.truth.container(path), path);
  }

  /** Gives a container another load from now on. */
  setLoad(path: ContainerPath, { cpuMillicores, memoryBytes }: SteadyUsage): void {
    this.truth
      .container(path)
      .changeLoad(steadyLoad(cpuMillicores, memoryBytes), this.#parts.clock.monotonicMs());
  }

  /** Gives a kubelet faults in place of those that it has; none makes it healthy. */
  async setFault(nodeName: string, ...faults: readonly FaultInput[]): Promise<void> {
    await this.node(nodeName).kubelet.setFaults(faults.map(faultOf));
  }

  /** Sets how far a node's wall clock is ahead. */
  setClockSkew(nodeName: string, skewMs: number): void {
    this.node(nodeName).machine.clock.skewMs = skewMs;
  }

  /** Makes a kubelet serve new connections with another certificate. */
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

/** A constant load. */
export interface SteadyUsage {
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
}
