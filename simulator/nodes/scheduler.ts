import type { Clock } from '#lib/time/clock.ts';
import { fieldAt, type KubernetesObject } from '../objects/kubernetes-object.ts';
import type { ObjectStore } from '../objects/object-store.ts';
import type { SimulatedNode } from './node-fleet.ts';
import { podObject } from './pod-object.ts';
import { podAddress } from './population.ts';

interface SchedulerOptions {
  readonly clock: Clock;
  readonly store: ObjectStore;
  nodes(): Iterable<SimulatedNode>;
  /** Time from the binding of a pod to its readiness. */
  readonly podStartupMs: number;
}

/** Binds pods that are created without a node to nodes in turn. They become ready at once or after a time. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #subscription: Disposable;
  readonly #starting = new Set<Disposable>();
  readonly #unbound = new Map<string, KubernetesObject>();
  #next = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#subscription = options.store.subscribe(({ type, resource, object }) => {
      // In a microtask: other watchers must receive the creation before the binding.
      if (resource === 'nodes' && type === 'ADDED' && this.#unbound.size > 0)
        queueMicrotask(() => this.#bindWaiting());
      if (resource !== 'pods' || type !== 'ADDED' || fieldAt(object, 'spec', 'nodeName')) return;
      queueMicrotask(() => this.#bind(object));
    });
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    for (const timer of this.#starting) timer[Symbol.dispose]();
  }

  #bindWaiting(): void {
    const waiting = [...this.#unbound.values()];
    this.#unbound.clear();
    for (const pod of waiting) this.#bind(pod);
  }

  #bind({ metadata }: KubernetesObject): void {
    const { store, clock, podStartupMs } = this.#options;
    const pod = this.#present(metadata);
    if (!pod || fieldAt(pod, 'spec', 'nodeName')) return;
    const nodes = [...this.#options.nodes()];
    const node = nodes[this.#next++ % nodes.length];
    if (!node) {
      this.#unbound.set(metadata.uid, pod);
      return;
    }
    store.update('pods', this.#onNode(pod, node, podStartupMs > 0 ? 'Pending' : 'Running'));
    if (podStartupMs === 0) return;
    const timer = clock.startTimer(podStartupMs, () => {
      this.#starting.delete(timer);
      const bound = this.#present(metadata);
      if (bound) store.update('pods', this.#onNode(bound, node, 'Running'));
    });
    this.#starting.add(timer);
  }

  /** The current pod; `undefined` when it is removed or replaced. */
  #present({ namespace, name, uid }: KubernetesObject['metadata']): KubernetesObject | undefined {
    const pod = this.#options.store.get('pods', namespace, name);
    return pod?.metadata.uid === uid && pod.metadata.deletionTimestamp === undefined ? pod : undefined;
  }

  #onNode(pod: KubernetesObject, { plan }: SimulatedNode, phase: 'Pending' | 'Running'): KubernetesObject {
    const { namespace = '', name } = pod.metadata;
    const { spec, status } = podObject({
      namespace,
      name,
      labels: {},
      nodeName: plan.name,
      nodeAddress: plan.address,
      podAddress: podAddress(plan.ordinal),
      phase,
      startedAtMs: this.#options.clock.nowMs(),
      containerNames: containerNamesOf(pod),
    });
    return { ...pod, spec: { ...(spec as object), ...(pod.spec as object), nodeName: plan.name }, status };
  }
}

function containerNamesOf(pod: KubernetesObject): readonly string[] {
  const containers = fieldAt(pod, 'spec', 'containers');
  return Array.isArray(containers) ? containers.map(({ name }) => String(name)) : [];
}
