import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Clock } from '#lib/time/clock.ts';
import { type ClusterPki, generateKeys } from '../access/certificate-authority.ts';
import { Kubelet } from '../kubelet/kubelet.ts';
import type { KubeletGate } from '../kubelet/kubelet-access.ts';
import { KubeletServer } from '../kubelet/kubelet-http.ts';
import { NodeClock } from '../kubelet/node-clock.ts';
import { NodeMachine } from '../kubelet/node-machine.ts';
import { steadyLoad } from '../kubelet/running-container.ts';
import { type CertificateKind, kubeletCertificate } from '../kubelet/serving-certificate.ts';
import type { ObjectStore } from '../objects/object-store.ts';
import { seededBetween } from '../random.ts';
import type { Scenario } from '../scenario.ts';
import { nodeObject, withAddress } from './node-object.ts';
import type { NodePlan } from './population.ts';

/** A node: its machine, its kubelet, and its plan. */
export interface SimulatedNode {
  readonly plan: NodePlan;
  readonly machine: NodeMachine;
  readonly kubelet: Kubelet;
  /** The current address; the plan has the first one. */
  address: string;
  certificateKind: CertificateKind;
}

interface FleetOptions {
  readonly clock: Clock;
  readonly scenario: Scenario;
  readonly store: ObjectStore;
  readonly pki: ClusterPki;
  readonly gate: KubeletGate;
  /** 0 for any port that is free at all addresses. */
  readonly kubeletPort: number;
}

const GIBIBYTE = 2 ** 30;
const DAY_MS = 86_400_000;

/** All nodes of a cluster. */
export class NodeFleet {
  readonly #options: FleetOptions;
  readonly #nodes = new Map<string, SimulatedNode>();
  readonly #server = new KubeletServer();
  readonly #keys = generateKeys();
  #kubeletPort: number;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#kubeletPort = options.kubeletPort;
  }

  /** The one port on which all kubelets listen. */
  get kubeletPort(): number {
    return this.#kubeletPort;
  }

  get(name: string): SimulatedNode | undefined {
    return this.#nodes.get(name);
  }

  values(): Iterable<SimulatedNode> {
    return this.#nodes.values();
  }

  /** @throws Error when the port of its kubelet is in use */
  async add(plan: NodePlan): Promise<SimulatedNode> {
    const { scenario, store } = this.#options;
    const machine = this.#machine(plan);
    const node: SimulatedNode = {
      plan,
      machine,
      kubelet: this.#kubelet(plan, machine),
      address: plan.address,
      certificateKind: plan.override.certificate ?? scenario.certificate,
    };
    await this.#listen(node);
    await node.kubelet.setFaults(plan.override.faults ?? []);
    this.#nodes.set(plan.name, node);
    node.kubelet.prepareTls();
    store.create(
      'nodes',
      nodeObject({
        name: plan.name,
        ordinal: plan.ordinal,
        labels: { ...scenario.nodeLabels, ...plan.override.labels },
        addresses: plan.addresses,
        kubeletPort: this.#kubeletPort,
        cpuCores: scenario.nodeCpuCores,
        memoryBytes: machine.memoryBytes,
        swapBytes: machine.swapBytes,
        isReady: plan.override.isReady ?? true,
        createdAtMs: machine.clock.stampMs(machine.bootedAtMs),
      }),
    );
    return node;
  }

  /**
   * Moves a node's kubelet to another address or port, and updates the Node.
   *
   * @throws Error when there is no such node or the port is in use
   */
  async move(name: string, to: { readonly address: string; readonly port: number }): Promise<void> {
    const { store } = this.#options;
    const node = this.#nodes.get(name);
    const object = store.get('nodes', undefined, name);
    if (!node || !object) throw new Error(`Cannot move node "${name}": there is none`);
    const from = node.address;
    node.address = to.address;
    node.kubelet.renewCertificate();
    await node.kubelet.move(to.address, to.port);
    store.update('nodes', withAddress(object, { from, ...to }));
  }

  async remove(name: string): Promise<void> {
    const node = this.#nodes.get(name);
    if (!node) return;
    this.#nodes.delete(name);
    this.#options.store.delete('nodes', undefined, name);
    await node.kubelet[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#nodes.values()].map(({ kubelet }) => kubelet[Symbol.asyncDispose]()));
    this.#server.close();
  }

  #machine({ name, override }: NodePlan): NodeMachine {
    const { clock, scenario } = this.#options;
    // Different boot times, so that nodes are not sampled at the same moments.
    const upMs = DAY_MS + seededBetween({ from: 0, to: 3_600_000 }, scenario.seed, 'boot', name);
    return new NodeMachine(name, new NodeClock(clock, override.clockSkewMs ?? 0), {
      runtime: scenario.runtime,
      memoryBytes: scenario.nodeMemoryGibibytes * GIBIBYTE,
      swapBytes: scenario.nodeSwapGibibytes * GIBIBYTE,
      kubeletPsi: scenario.featureGates.KubeletPSI,
      bootedAtMs: clock.monotonicMs() - upMs,
      system: steadyLoad(
        seededBetween({ from: 50, to: 150 }, scenario.seed, 'system', name),
        4096 * seededBetween({ from: 50_000, to: 100_000 }, scenario.seed, 'system memory', name),
      ),
    });
  }

  #kubelet({ name, address: planned }: NodePlan, machine: NodeMachine): Kubelet {
    const { clock, gate, pki } = this.#options;
    return new Kubelet(name, {
      machine,
      clock,
      gate,
      server: this.#server,
      clientCaPem: pki.clientCa.certificatePem,
      certificate: () => {
        const { certificateKind: kind = 'valid', address = planned } = this.#nodes.get(name) ?? {};
        return kubeletCertificate(kind, { name, address }, { pki, keys: this.#keys });
      },
    });
  }

  async #listen({ plan, kubelet }: SimulatedNode): Promise<void> {
    if (this.#kubeletPort === 0) this.#kubeletPort = await findFreePort();
    try {
      await kubelet.listen(plan.address, this.#kubeletPort);
    } catch (error) {
      const where = `${plan.address}:${this.#kubeletPort}`;
      throw new Error(`Cannot start the kubelet of node "${plan.name}" at ${where}`, { cause: error });
    }
  }
}

/** Finds a port that is free at all addresses, and so at those of nodes. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
