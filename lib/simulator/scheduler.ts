import type { Clock } from '#lib/time/clock.ts';
import type { SimulatedNode } from './node-fleet.ts';
import { fieldAt, type KubernetesObject } from './objects/kubernetes-object.ts';
import type { ObjectStore } from './objects/object-store.ts';
import { podObject } from './objects/pod-object.ts';
import { podAddress } from './workloads.ts';

/** What there is to be scheduled, and onto what. */
export interface SchedulerOptions {
  readonly clock: Clock;
  readonly store: ObjectStore;
  nodes(): Iterable<SimulatedNode>;
}

/** Binds pods that somebody created without a node to nodes in turn, where they run at once. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #subscription: Disposable;
  #turn = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#subscription = options.store.subscribe(({ type, resource, object }) => {
      if (resource !== 'pods' || type !== 'ADDED' || fieldAt(object, 'spec', 'nodeName')) return;
      // Not within the change itself, or other watchers would see the binding before the creation.
      queueMicrotask(() => this.#bind(object));
    });
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #bind(pod: KubernetesObject): void {
    const { clock, store } = this.#options;
    const nodes = [...this.#options.nodes()];
    const node = nodes[this.#turn++ % nodes.length];
    const { namespace = '', name } = pod.metadata;
    if (!node || store.get('pods', namespace, name) !== pod) return;
    const { spec, status } = podObject({
      namespace,
      name,
      labels: {},
      nodeName: node.plan.name,
      nodeAddress: node.plan.address,
      podAddress: podAddress(node.plan.ordinal),
      phase: 'Running',
      startedAtMs: clock.nowMs(),
      containerNames: containerNamesOf(pod),
    });
    store.update('pods', {
      ...pod,
      spec: { ...(spec as object), ...(pod.spec as object), nodeName: node.plan.name },
      status,
    });
  }
}

function containerNamesOf(pod: KubernetesObject): readonly string[] {
  const containers = fieldAt(pod, 'spec', 'containers');
  return Array.isArray(containers) ? containers.map(({ name }) => String(name)) : [];
}
