import type { Clock } from '#lib/time/clock.ts';
import type { NodeMachine } from '../kubelet/node-machine.ts';
import { RunningContainer, steadyLoad } from '../kubelet/running-container.ts';
import { fieldAt, type KubernetesObject } from '../objects/kubernetes-object.ts';
import { keyOf, type ObjectStore, type StoreEvent } from '../objects/object-store.ts';
import type { Scenario } from '../scenario.ts';
import type { ContainerPath } from './actual-usage.ts';
import type { SimulatedNode } from './node-fleet.ts';
import { podObject, withRestartedContainer } from './pod-object.ts';
import { type ContainerPlan, type PodPlan, planContainer, podAddress } from './population.ts';

interface WorkloadsOptions {
  readonly clock: Clock;
  readonly store: ObjectStore;
  readonly scenario: Scenario;
  node(name: string): SimulatedNode | undefined;
}

/**
 * Creates pods, and runs the pods of the API server on their machines: they start when they are bound and running, and
 * stop when they end or are deleted.
 */
export class PodRunner {
  readonly #options: WorkloadsOptions;
  readonly #expected = new Map<string, ExpectedPod>();
  readonly #subscription: Disposable;

  constructor(options: WorkloadsOptions) {
    this.#options = options;
    this.#subscription = options.store.subscribe((event) => {
      if (event.resource === 'pods') this.#observe(event);
    });
  }

  /**
   * Creates a pod, and runs it when its phase is Running.
   *
   * @param startsNow whether it starts on its node now, however old it is
   * @throws Error when there is no such node, StoreError when the pod exists
   */
  add(plan: PodPlan, { startsNow }: { readonly startsNow: boolean }): KubernetesObject {
    const { store, clock, node } = this.#options;
    const { address, ordinal } = node(plan.nodeName)?.plan ?? {};
    if (address === undefined || ordinal === undefined) {
      throw new Error(`Cannot add pod "${plan.name}": there is no node "${plan.nodeName}"`);
    }
    const draft = podObject({
      ...plan,
      nodeAddress: address,
      podAddress: podAddress(ordinal),
      startedAtMs: clock.nowMs() - plan.startedMsAgo,
      containerNames: plan.containers.map(({ name }) => name),
    });
    this.#expected.set(keyOf(plan.namespace, plan.name), { plan, startsNow });
    return store.create('pods', draft);
  }

  /** Restarts a container, and updates its Pod. */
  restart(container: RunningContainer, { namespace, pod }: ContainerPath): void {
    const { clock, store } = this.#options;
    container.restart(clock.monotonicMs());
    const object = store.get('pods', namespace, pod);
    if (object) store.update('pods', withRestartedContainer(object, container.name, clock.nowMs()));
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #observe({ type, object, previous }: StoreEvent): void {
    const { uid } = object.metadata;
    const machine = this.#machineOf(object);
    const before = previous && this.#machineOf(previous);
    if (before && before !== machine) before.stop(uid);
    if (!machine) return;
    const isRunning = type !== 'DELETED' && fieldAt(object, 'status', 'phase') === 'Running';
    if (!isRunning) machine.stop(uid);
    else if (!machine.pod(uid)) this.#run(object, machine);
  }

  #machineOf(pod: KubernetesObject): NodeMachine | undefined {
    const nodeName = fieldAt(pod, 'spec', 'nodeName');
    return typeof nodeName === 'string' ? this.#options.node(nodeName)?.machine : undefined;
  }

  #run(pod: KubernetesObject, machine: NodeMachine): void {
    const { namespace = '', name, uid } = pod.metadata;
    const key = keyOf(namespace, name);
    const expected = this.#expected.get(key);
    this.#expected.delete(key);
    const nowMs = this.#options.clock.monotonicMs();
    const startedAtMs = nowMs - (expected?.plan.startedMsAgo ?? 0);
    const containers = (expected?.plan.containers ?? this.#containersOf(pod)).map(
      ({ name: container, cpuMillicores, memoryBytes, swapBytes, unknown }) => {
        const load = steadyLoad(cpuMillicores, memoryBytes, { swapBytes });
        return new RunningContainer(container, load, { startedAtMs, unknown });
      },
    );
    machine.start(
      { namespace, name, uid, startedAtMs, containers },
      expected?.startsNow ? nowMs : startedAtMs,
    );
  }

  /** Pods created through the API have loads from the seed, too. */
  #containersOf(pod: KubernetesObject): readonly ContainerPlan[] {
    const containers = fieldAt(pod, 'spec', 'containers');
    if (!Array.isArray(containers)) return [];
    const { namespace = '', name } = pod.metadata;
    return containers.map((container) =>
      planContainer(this.#options.scenario, { namespace, name }, String(container.name)),
    );
  }
}

interface ExpectedPod {
  readonly plan: PodPlan;
  readonly startsNow: boolean;
}
