import { systemClock } from '#lib/time/clock.ts';
import { steadyLoad } from '#simulator/kubelet/running-container.ts';
import { Truth } from '#simulator/nodes/actual-usage.ts';
import { NodeFleet, type SimulatedNode } from '#simulator/nodes/node-fleet.ts';
import { PodRunner } from '#simulator/nodes/pod-runner.ts';
import { planNode } from '#simulator/nodes/population.ts';
import type { KubernetesObject, NewObject } from '#simulator/objects/kubernetes-object.ts';
import { ObjectStore } from '#simulator/objects/object-store.ts';
import { parseScenario } from '#simulator/scenario.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { type KubeletAccess, ReviewingGate } from './kubelet-gate.ts';

/**
 * Nodes of a real control plane with real objects, and with the simulator's machines and kubelets. They run only pods
 * passed to {@link SimulatedNodes.mirror}.
 */
export class SimulatedNodes implements AsyncDisposable {
  /** Requests to kubelets with the API server's decisions, in order. */
  readonly decisions: KubeletAccess[] = [];
  readonly truth: Truth;
  readonly #store = new ObjectStore(systemClock);
  readonly #fleet: NodeFleet;
  readonly #workloads: PodRunner;

  private constructor(controlPlane: ControlPlane) {
    const identity = controlPlane.pki.clientCa.issue({
      subject: { commonName: 'system:node:node-1', organizations: ['system:nodes'] },
      usages: ['clientAuth'],
    });
    this.#fleet = new NodeFleet({
      clock: systemClock,
      scenario: SCENARIO,
      store: this.#store,
      pki: controlPlane.pki,
      gate: new ReviewingGate(controlPlane.clientFor(identity), (access) => this.decisions.push(access)),
      kubeletPort: 0,
    });
    this.#workloads = new PodRunner({
      clock: systemClock,
      store: this.#store,
      scenario: SCENARIO,
      node: (name) => this.#fleet.get(name),
    });
    this.truth = new Truth(systemClock, () => [...this.#fleet.values()].map(({ machine }) => machine));
  }

  /** Starts kubelets and registers their nodes. */
  static async start(controlPlane: ControlPlane, count: number): Promise<SimulatedNodes> {
    const nodes = new SimulatedNodes(controlPlane);
    for (let ordinal = 1; ordinal <= count; ordinal++) {
      const { plan } = await nodes.#fleet.add(planNode(SCENARIO, ordinal));
      const { uid, resourceVersion, creationTimestamp, ...metadata } = nodes.#object(plan.name).metadata;
      await controlPlane.client.create('/api/v1/nodes', { ...nodes.#object(plan.name), metadata });
    }
    return nodes;
  }

  /** All nodes, sorted by name. */
  get all(): readonly SimulatedNode[] {
    return [...this.#fleet.values()];
  }

  /** Runs a pod of the real API server on its node's simulated machine. */
  mirror({ kind, apiVersion, metadata, spec }: KubernetesObject): void {
    const { name, namespace, uid, labels } = metadata;
    const pod: NewObject = {
      kind,
      apiVersion,
      metadata: { name, uid, ...(namespace ? { namespace } : {}), ...(labels ? { labels } : {}) },
      spec,
      status: { phase: 'Running' },
    };
    this.#store.create('pods', pod);
  }

  /** Ends a mirrored pod. */
  end(namespace: string, name: string): void {
    this.#store.delete('pods', namespace, name);
  }

  /** Sets the usage of every container of a pod. */
  setLoad(pod: { readonly namespace: string; readonly name: string }, usage: Usage): void {
    for (const container of this.truth.pod(pod.namespace, pod.name).containers) {
      container.changeLoad(steadyLoad(usage.cpuMillicores, usage.memoryBytes), systemClock.monotonicMs());
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#workloads[Symbol.dispose]();
    await this.#fleet[Symbol.asyncDispose]();
  }

  #object(name: string): KubernetesObject {
    const object = this.#store.get('nodes', undefined, name);
    if (!object) throw new Error(`Cannot find node ${name}`);
    return object;
  }
}

/** Usage of one container. */
export interface Usage {
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
}

/** Nodes without pods: all pods are from the real API server. */
const SCENARIO = parseScenario({ nodes: 0, podsPerNode: 0 });
