import type { Clock } from '#lib/time/clock.ts';
import type { NodeMachine, RunningPod } from '../kubelet/node-machine.ts';
import type { RunningContainer } from '../kubelet/running-container.ts';

/** An interval of the cluster's wall clock, in milliseconds since the epoch. */
export interface TruthWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Actual usage: CPU on average over a window, memory at its end. */
export interface TrueUsage {
  readonly cpuNanocores: number;
  readonly memoryBytes: number;
}

/** The path of a running container. */
export interface ContainerPath {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** The actual usage of everything, which kubelets report inexactly. */
export class Truth {
  readonly #clock: Clock;
  readonly #machines: () => Iterable<NodeMachine>;

  constructor(clock: Clock, machines: () => Iterable<NodeMachine>) {
    this.#clock = clock;
    this.#machines = machines;
  }

  /** @throws Error when no such container runs */
  containerUsage(path: ContainerPath, window: TruthWindow): TrueUsage {
    const container = this.container(path);
    return this.#usage(window, {
      cpu: (atMs) => container.lifetimeCoreNanoseconds(atMs),
      memory: (atMs) => container.memoryBytes(atMs),
    });
  }

  /**
   * The sum over a pod's containers, as in `kubectl top pod`: without the pause container.
   *
   * @throws Error when no such pod runs
   */
  podUsage({ namespace, pod }: Omit<ContainerPath, 'container'>, window: TruthWindow): TrueUsage {
    const usages = this.pod(namespace, pod).containers.map(({ name }) =>
      this.containerUsage({ namespace, pod, container: name }, window),
    );
    return {
      cpuNanocores: usages.reduce((sum, usage) => sum + usage.cpuNanocores, 0),
      memoryBytes: usages.reduce((sum, usage) => sum + usage.memoryBytes, 0),
    };
  }

  /** @throws Error when there is no such node */
  nodeUsage(nodeName: string, window: TruthWindow): TrueUsage {
    const machine = [...this.#machines()].find((one) => one.nodeName === nodeName);
    if (!machine) throw new Error(`Cannot compute the usage of node "${nodeName}": there is none`);
    return this.#usage(window, {
      cpu: (atMs) => machine.coreNanoseconds(atMs),
      memory: (atMs) => machine.workingSetBytes(atMs),
    });
  }

  /** @throws Error when no such container runs */
  container({ namespace, pod, container }: ContainerPath): RunningContainer {
    const found = this.pod(namespace, pod).containers.find(({ name }) => name === container);
    if (!found) throw new Error(`Cannot find container "${container}" in pod "${namespace}/${pod}"`);
    return found;
  }

  /** @throws Error when no such pod runs */
  pod(namespace: string, name: string): RunningPod {
    for (const machine of this.#machines()) {
      for (const pod of machine.pods()) if (pod.name === name && pod.namespace === namespace) return pod;
    }
    throw new Error(`Cannot find pod "${namespace}/${name}": it does not run`);
  }

  /** All running pods with their nodes. */
  *pods(): Generator<{ readonly nodeName: string; readonly pod: RunningPod }> {
    for (const machine of this.#machines()) {
      for (const pod of machine.pods()) yield { nodeName: machine.nodeName, pod };
    }
  }

  #usage(
    { fromMs, toMs }: TruthWindow,
    counters: { readonly cpu: (atMs: number) => number; readonly memory: (atMs: number) => number },
  ): TrueUsage {
    const offsetMs = this.#clock.monotonicMs() - this.#clock.nowMs();
    const used = counters.cpu(toMs + offsetMs) - counters.cpu(fromMs + offsetMs);
    return {
      cpuNanocores: used / ((toMs - fromMs) / 1000),
      memoryBytes: counters.memory(toMs + offsetMs),
    };
  }
}
