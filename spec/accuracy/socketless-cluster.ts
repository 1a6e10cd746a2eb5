import type { LiveNode } from '#lib/resource-metrics/nodes/node-cache.ts';
import type { LivePod } from '#lib/resource-metrics/nodes/pod-cache.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { RunningPod, RuntimeKind } from '#simulator/kubelet/node-machine.ts';
import { type Load, type MissingReading, RunningContainer } from '#simulator/kubelet/running-container.ts';
import { type EndpointKind, SocketlessNode } from './socketless-node.ts';

export interface NodeSketch {
  readonly name: string;
  readonly endpoint?: EndpointKind;
  readonly runtime?: RuntimeKind;
  readonly skewMs?: number;
  /** Usual response time. */
  readonly latencyMs?: number;
}

export interface PodSketch {
  readonly name: string;
  readonly node: string;
  readonly containers: readonly ContainerSketch[];
  /** When its containers started; by default now. */
  readonly startedAtMs?: number;
  /** The UID that its kubelet reports, if the API server has another one: a static pod. */
  readonly kubeletUid?: string;
}

export interface ContainerSketch {
  readonly name: string;
  readonly load: Load;
  readonly unknown?: readonly MissingReading[];
}

/** One pod over its lifetime, with its node. */
export interface PodLife {
  readonly node: SocketlessNode;
  readonly running: RunningPod;
  /** Starts another container in the pod: an ephemeral one, or the successor of one. */
  join(sketch: ContainerSketch): RunningContainer;
}

export const NAMESPACE = 'default';

/**
 * Machines, their kubelets' responses, and the API server's objects, without sockets: a day of hundreds of nodes takes
 * minutes.
 */
export class SocketlessCluster {
  readonly clock: Clock;
  /** The existing machines, by name. */
  readonly machines = new Map<string, SocketlessNode>();
  /** Every pod of the run, by the UID that its kubelet reports. */
  readonly lives = new Map<string, PodLife>();
  /** Pods by name, which several may have had. */
  readonly livesByName = new Map<string, PodLife[]>();
  /** Nodes as a watch of the API server reports them. */
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

  /** Removes a node and its pods. */
  removeNode(name: string): void {
    for (const { uid, name: pod } of this.machines.get(name)?.machine.pods() ?? []) {
      if (this.livePods.get(pod)?.uid === uid) this.livePods.delete(pod);
    }
    this.machines.delete(name);
    this.liveNodes.delete(name);
  }

  /** Starts a pod that the API server does not report yet. */
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

  /** Reports a pod as live, in place of an earlier one of its name. */
  announce({ running: { name, uid } }: PodLife): void {
    this.livePods.set(name, { namespace: NAMESPACE, name, uid, labels: {} });
  }

  /** Starts a pod and reports it. */
  addPod(sketch: PodSketch): PodLife {
    const life = this.runPod(sketch);
    this.announce(life);
    return life;
  }

  /** Stops reporting a pod, unless another one has its name. */
  renounce({ running: { name, uid } }: PodLife): void {
    if (this.livePods.get(name)?.uid === uid) this.livePods.delete(name);
  }

  /** @throws Error if there is no such machine */
  node(name: string): SocketlessNode {
    const node = this.machines.get(name);
    if (!node) throw new Error(`There is no node "${name}"`);
    return node;
  }
}
