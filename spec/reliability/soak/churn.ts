import { setTimeout as sleep } from 'node:timers/promises';
import { endWatches } from '#simulator/api-server/faults.ts';
import { seededFraction } from '#simulator/random.ts';
import type { SimulatedCluster } from '#simulator/simulated-cluster.ts';
import { heal, KUBELET_FAULT_CASES } from '../kubelet-fault-cases.ts';

const ROUND_MS = 1_000;
const FAULT_LASTS_ROUNDS = 20;
const API_FAULT_EVERY_ROUNDS = 45;
/** Maximum share of nodes with a fault at a time. */
const FAULTY_PART = 1 / 3;

/**
 * Each second, pods are created, deleted and crash and kubelets fail or recover, more of them in a larger cluster; at
 * times, nodes join and leave, and the API server restarts or ends its watches. A seed reproduces the run.
 */
export class Churn {
  readonly #cluster: SimulatedCluster;
  readonly #seed: number;
  /** The round in which each node's fault ends. */
  readonly #faultEnds = new Map<string, number>();
  /** When nodes recovered or joined, by the monotonic clock. */
  readonly #healthySinceMs = new Map<string, number>();
  #round = 0;
  #faultCount = 0;

  constructor(cluster: SimulatedCluster, seed: number) {
    this.#cluster = cluster;
    this.#seed = seed;
  }

  /** Number of failing kubelets. */
  get faultyNodes(): number {
    return this.#faultEnds.size;
  }

  /** Existing nodes whose kubelets have been healthy for so long. */
  healthyNodes({ forMs }: { readonly forMs: number }): readonly string[] {
    const sinceMs = performance.now() - forMs;
    return this.#nodeNames().filter(
      (name) => !this.#faultEnds.has(name) && (this.#healthySinceMs.get(name) ?? 0) <= sinceMs,
    );
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; this.#round++) {
      const maxFaulty = this.#nodeNames().length * FAULTY_PART;
      const count = Math.ceil(maxFaulty / FAULT_LASTS_ROUNDS);
      for (let index = 0; index < count; index++) {
        this.#changePods(index);
        if (this.#faultEnds.size < maxFaulty) await this.#breakNode(index);
      }
      await this.#healNodes();
      if (this.#round % API_FAULT_EVERY_ROUNDS === API_FAULT_EVERY_ROUNDS - 1) await this.#changeCluster();
      await sleep(ROUND_MS, undefined, { signal }).catch(() => {}); // aborted
    }
  }

  #changePods(index: number): void {
    const pods = [...this.#cluster.truth.pods()].map(({ pod }) => pod);
    const gone = this.#pick(`delete ${index}`, pods);
    if (gone && this.#dice(`deletes ${index}`) < 0.5) this.#cluster.deletePod(gone.namespace, gone.name);
    const home = this.#pick(`node ${index}`, this.#nodeNames());
    if (home !== undefined && this.#dice(`adds ${index}`) < 0.5) {
      this.#cluster.addPod({ name: `churn-${this.#round}-${index}`, node: home });
    }
    const crashing = this.#pick(`crash ${index}`, pods);
    const [container] = crashing?.containers ?? [];
    if (crashing && crashing !== gone && container && this.#dice(`crashes ${index}`) < 0.2) {
      const { namespace, name: pod } = crashing;
      this.#cluster.restartContainer({ namespace, pod, container: container.name });
    }
  }

  async #breakNode(index: number): Promise<void> {
    const name = this.#pick(`fault ${index}`, this.#nodeNames());
    const fault = KUBELET_FAULT_CASES[this.#faultCount++ % KUBELET_FAULT_CASES.length];
    if (name === undefined || !fault || this.#faultEnds.has(name)) return;
    this.#faultEnds.set(name, this.#round + FAULT_LASTS_ROUNDS);
    await fault.inject(this.#cluster, name);
  }

  async #healNodes(): Promise<void> {
    for (const [name, endRound] of this.#faultEnds) {
      if (endRound > this.#round) continue;
      await heal(this.#cluster, name);
      this.#faultEnds.delete(name);
      this.#healthySinceMs.set(name, performance.now());
    }
  }

  /** Restarts the API server, which may then end its watches, and replaces one node. */
  async #changeCluster(): Promise<void> {
    const { apiServer } = this.#cluster;
    await apiServer.stop();
    await apiServer.start();
    apiServer.setFaults(...(this.#dice('watches') < 0.5 ? [endWatches(5_000)] : []));
    const leaving = this.#pick('leave', this.healthyNodes({ forMs: 0 }));
    if (leaving !== undefined) await this.#cluster.removeNode(leaving);
    this.#healthySinceMs.set(await this.#cluster.addNode(), performance.now());
  }

  #nodeNames(): string[] {
    return [...this.#cluster.nodes()].map(({ plan }) => plan.name);
  }

  #dice(what: string): number {
    return seededFraction(this.#seed, what, this.#round);
  }

  #pick<T>(what: string, from: readonly T[]): T | undefined {
    return from[Math.floor(this.#dice(what) * from.length)];
  }
}
