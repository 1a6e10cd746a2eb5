import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '#simulator/objects/kubernetes-object.ts';
import type { ControlPlaneClient, ObjectList } from '../control-plane/control-plane-client.ts';
import type { SimulatedNodes, Usage } from './simulated-nodes.ts';

const PERIOD_MS = 250;

/**
 * Acts as scheduler and kubelets in one namespace of a real control plane: binds pods to the simulated nodes round
 * robin, marks them as running and ready, and completes deletions. No containers run; the simulated machines report CPU
 * and memory usage in their place, with an equal share of the app's load for each pod.
 */
export class PodAgent implements AsyncDisposable {
  readonly #client: ControlPlaneClient;
  readonly #nodes: SimulatedNodes;
  readonly #namespace: string;
  readonly #running = new Map<string, RunningPod>();
  readonly #work = new Map<string, Usage>();
  readonly #stop = new AbortController();
  readonly #loop: Promise<void>;
  #failure: Error | undefined;
  #next = 0;

  constructor(
    client: ControlPlaneClient,
    { nodes, namespace }: { nodes: SimulatedNodes; namespace: string },
  ) {
    this.#client = client;
    this.#nodes = nodes;
    this.#namespace = namespace;
    this.#loop = this.#watch();
    this.#loop.catch((error: Error) => {
      this.#failure = error;
    });
  }

  /**
   * Divides CPU among the current and future pods with this value of the label `app`; each pod uses the full memory.
   */
  setWork(app: string, work: Usage): void {
    this.#work.set(app, work);
    this.#divide();
  }

  /** Error that stopped the agent, if any. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#loop.catch(() => {});
  }

  async #watch(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#sync();
      await sleep(PERIOD_MS, undefined, { signal: this.#stop.signal }).catch(() => {});
    }
  }

  async #sync(): Promise<void> {
    const path = `/api/v1/namespaces/${this.#namespace}/pods`;
    const { items } = await this.#client.get<ObjectList>(path);
    for (const pod of items) {
      const { name, deletionTimestamp } = pod.metadata;
      if (deletionTimestamp) await this.#client.delete(`${path}/${name}`);
      else if (!this.#running.has(name)) await this.#run(pod, `${path}/${name}`);
    }
    const live = new Set(
      items.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.name),
    );
    for (const name of [...this.#running.keys()].filter((one) => !live.has(one))) {
      this.#nodes.end(this.#namespace, name);
      this.#running.delete(name);
    }
    this.#divide();
  }

  async #run(pod: KubernetesObject, path: string): Promise<void> {
    const { name, labels } = pod.metadata;
    const node = this.#nodes.all[this.#next++ % this.#nodes.all.length];
    if (!node) throw new Error('Cannot run a pod without nodes');
    await this.#client.create(`${path}/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name },
      target: { apiVersion: 'v1', kind: 'Node', name: node.plan.name },
    });
    await this.#client.patch(`${path}/status`, { status: runningStatus(pod, node.plan.address) });
    this.#nodes.mirror({ ...pod, spec: { ...(pod.spec as object), nodeName: node.plan.name } });
    this.#running.set(name, { app: labels?.app ?? '' });
  }

  #divide(): void {
    for (const [app, work] of this.#work) {
      const pods = [...this.#running].filter(([, pod]) => pod.app === app);
      const cpuMillicores = work.cpuMillicores / pods.length;
      for (const [name, pod] of pods) {
        const { usage } = pod;
        if (usage?.cpuMillicores === cpuMillicores && usage.memoryBytes === work.memoryBytes) continue;
        pod.usage = { ...work, cpuMillicores };
        this.#nodes.setLoad({ namespace: this.#namespace, name }, pod.usage);
      }
    }
  }
}

interface RunningPod {
  readonly app: string;
  usage?: Usage;
}

function runningStatus(pod: KubernetesObject, hostIP: string): object {
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  const { containers } = pod.spec as { readonly containers: readonly { name: string; image: string }[] };
  const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: now });
  return {
    phase: 'Running',
    hostIP,
    podIP: '10.128.0.2',
    startTime: now,
    conditions: ['Initialized', 'ContainersReady', 'Ready'].map(condition),
    containerStatuses: containers.map(({ name, image }) => ({
      name,
      image,
      imageID: `simulated://${image}`,
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: now } },
    })),
  };
}
