import type { LiveNode } from '#lib/resource-metrics/nodes/node-cache.ts';
import type { LivePod } from '#lib/resource-metrics/nodes/pod-cache.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { RunningPod, RuntimeKind } from '#simulator/machine/node-machine.ts';
import { type Load, type MissingReading, RunningContainer } from '#simulator/machine/running-container.ts';
import { type EndpointKind, SocketlessNode } from './socketless-node.ts';

/** A node to be. */
export interface NodeSketch {
  readonly name: string;
  readonly endpoint?: EndpointKind;
  readonly runtime?: RuntimeKind;
  readonly skewMs?: number;
}

/** A pod to be. */
export interface PodSketch {
  readonly name: string;
  readonly node: string;
  readonly containers: readonly ContainerSketch[];
  /** When its containers started; now unless told. */
  readonly startedAtMs?: number;
  /** By which its kubelet knows it, where that is not how the API server does: a static pod. */
  readonly kubeletUid?: string;
}

/** A container to be. */
export interface ContainerSketch {
  readonly name: string;
  readonly load: Load;
  readonly unknown?: readonly MissingReading[];
}

/** One pod through its life, and where it leads that. */
export interface PodLife {
  readonly node: SocketlessNode;
  readonly running: RunningPod;
  /** Runs one more container in it from now on: an ephemeral one, or the next of its kind. */
  join(sketch: ContainerSketch): RunningContainer;
}

export const NAMESPACE = 'default';

/**
 * Machines, what their kubelets response, and what the API server says of them, without a socket between: a day of
 * hundreds of nodes passes in minutes.
 */
export class SocketlessCluster {
  readonly clock: Clock;
  /** The machines that are there, by name. */
  readonly machines = new Map<string, SocketlessNode>();
  /** Every pod that ever was, by the UID that its kubelet gives. */
  readonly lives = new Map<string, PodLife>();
  /** The same by name, of which another pod may take hold. */
  readonly livesByName = new Map<string, PodLife[]>();
  /** What a watch of the API server tells. */
  readonly liveNodes = new Map<string, LiveNode>();
  readonly livePods = new Map<string, LivePod>();
  #podCount = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  addNode({ name, ...sketch }: NodeSketch): SocketlessNode {
    const node = new SocketlessNode(name, this.clock, sketch);
    this.machines.set(name, node);
    this.liveNodes.set(name, {
      name,
      labels: {},
      addresses: [{ type: 'Hostname', address: name }],
      kubeletPort: undefined,
      resourceMetricsPath: undefined,
    });
    return node;
  }

  /** Takes a node away, and its pods. */
  removeNode(name: string): void {
    for (const { uid, name: pod } of this.machines.get(name)?.machine.pods() ?? []) {
      if (this.livePods.get(pod)?.uid === uid) this.livePods.delete(pod);
    }
    this.machines.delete(name);
    this.liveNodes.delete(name);
  }

  /** Runs a pod, of which the API server does not tell yet. */
  runPod({ name, node, containers, ...sketch }: PodSketch): PodLife {
    const host = this.node(node);
    const startedAtMs = sketch.startedAtMs ?? this.clock.monotonicMs();
    const begin = (container: ContainerSketch, atMs: number) =>
      new RunningContainer(container.name, container.load, {
        startedAtMs: atMs,
        unknown: container.unknown ?? [],
      });
    const begun = containers.map((container) => begin(container, startedAtMs));
    const uid = sketch.kubeletUid ?? `uid-${++this.#podCount}`;
    const running: RunningPod = { namespace: NAMESPACE, name, uid, startedAtMs, containers: begun };
    const join = (container: ContainerSketch) => {
      const joined = begin(container, this.clock.monotonicMs());
      begun.push(joined);
      return joined;
    };
    host.machine.start(running);
    const life = { node: host, running, join };
    this.lives.set(uid, life);
    this.livesByName.set(name, [...(this.livesByName.get(name) ?? []), life]);
    return life;
  }

  /** Tells of a pod that it lives, and no longer of an earlier one of its name. */
  announce({ running: { name, uid } }: PodLife): void {
    this.livePods.set(name, { namespace: NAMESPACE, name, uid, labels: {} });
  }

  /** Runs a pod and tells of it. */
  addPod(sketch: PodSketch): PodLife {
    const life = this.runPod(sketch);
    this.announce(life);
    return life;
  }

  /** Tells no longer of a pod, unless another has taken its name. */
  renounce({ running: { name, uid } }: PodLife): void {
    if (this.livePods.get(name)?.uid === uid) this.livePods.delete(name);
  }

  /** @throws Error when there is no such machine */
  node(name: string): SocketlessNode {
    const node = this.machines.get(name);
    if (!node) throw new Error(`There is no node "${name}"`);
    return node;
  }
}
