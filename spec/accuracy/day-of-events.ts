import type { Clock } from '#lib/time/clock.ts';
import { someLoad } from './changing-load.ts';
import type { Dice } from './dice.ts';
import type { PodLife, SocketlessCluster } from './socketless-cluster.ts';
import type { SocketlessNode } from './socketless-node.ts';

export interface DayOptions {
  readonly clock: Clock;
  readonly dice: Dice;
  readonly cluster: SocketlessCluster;
  readonly nodes: number;
  readonly podsPerNode: number;
  readonly resolutionMs: number;
  /** Event rate, as a multiple of a bad day's. */
  readonly pace: number;
}

/** A random event, which each node (or pod) has once in so many hours on average. */
interface Happening {
  readonly what: string;
  readonly everyHours: number;
  readonly per: 'node' | 'pod';
  readonly happen: (day: DayOfEvents) => void;
}

const HOUR_MS = 3_600_000;
/** Maximum delay of a watch event after the kubelet has the change. */
export const WATCH_LAG_MS = 2000;

const HAPPENINGS: readonly Happening[] = [
  { what: 'Load of a container changed', everyHours: 1, per: 'pod', happen: (day) => day.changeLoad() },
  { what: 'Pod replaced', everyHours: 8, per: 'pod', happen: (day) => day.replacePod() },
  { what: 'Container restarted', everyHours: 12, per: 'pod', happen: (day) => day.restartContainer() },
  {
    what: 'Container crashed, and waited 10 to 300 s to be restarted',
    everyHours: 48,
    per: 'pod',
    happen: (day) => day.crashContainer(),
  },
  {
    what: 'Pod moved to another node under its name',
    everyHours: 48,
    per: 'pod',
    happen: (day) => day.movePod(),
  },
  { what: 'One scrape lost', everyHours: 6, per: 'node', happen: (day) => day.loseScrape() },
  {
    what: 'Node cut off for 2 to 20 minutes',
    everyHours: 24,
    per: 'node',
    happen: (day) => day.partition(day.dice.between(120_000, 1_200_000)),
  },
  {
    what: 'Node responded slowly, in 1 to 12 s, for 10 minutes',
    everyHours: 24,
    per: 'node',
    happen: (day) => day.slowDown(),
  },
  {
    what: 'Scrapes of a node started up to 1.9 s late, for 10 minutes',
    everyHours: 24,
    per: 'node',
    happen: (day) => day.delayScrapes(),
  },
  { what: 'Node rebooted', everyHours: 96, per: 'node', happen: (day) => day.reboot() },
  {
    what: 'Node replaced by one with another name',
    everyHours: 120,
    per: 'node',
    happen: (day) => day.replaceNode(),
  },
  {
    what: 'Clock of a node stepped by 90 s to 24 h',
    everyHours: 96,
    per: 'node',
    happen: (day) => day.stepClock(90_000, 86_400_000),
  },
  {
    what: 'Clock of a node stepped by 0.1 to 20 s',
    everyHours: 96,
    per: 'node',
    happen: (day) => day.stepClock(100, 20_000),
  },
];

/** All events in a cluster, at random times of the clock. */
export class DayOfEvents {
  readonly dice: Dice;
  readonly counts = new Map<string, number>(HAPPENINGS.map(({ what }) => [what, 0]));
  readonly #options: DayOptions;
  /** The next time of each event. */
  readonly #dueMs = new Map<Happening, number>();
  /** Names of pods that are being moved. */
  readonly #moving = new Set<string>();
  #names = 0;

  constructor(options: DayOptions) {
    this.#options = options;
    this.dice = options.dice;
    for (let count = 0; count < options.nodes; count++) this.#addNode();
    for (const happening of HAPPENINGS) this.#dueMs.set(happening, this.#nextMs(happening));
  }

  /** The time of the next event. */
  get nextMs(): number {
    return Math.min(...this.#dueMs.values());
  }

  /** Runs the events that are due. */
  proceed(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [happening, dueMs] of this.#dueMs) {
      if (dueMs > nowMs) continue;
      happening.happen(this);
      this.counts.set(happening.what, (this.counts.get(happening.what) ?? 0) + 1);
      this.#dueMs.set(happening, this.#nextMs(happening));
    }
  }

  /** Adds a node of a random kind with pods of random ages. */
  #addNode(): void {
    const { cluster, podsPerNode, clock } = this.#options;
    const name = `node-${++this.#names}`;
    const node = cluster.addNode({
      name,
      latencyMs: Math.round(5 * 10 ** this.dice.fraction()),
      endpoint: this.#names % 2 === 0 ? 'resource' : 'summary',
      runtime: this.dice.fraction() < 0.8 ? 'cri' : 'cadvisor',
      skewMs: this.dice.fraction() < 0.7 ? this.dice.between(-50, 50) : this.dice.between(-600_000, 600_000),
    });
    node.readAfter = () => this.dice.fraction();
    for (let count = 0; count < podsPerNode; count++) {
      this.#addPod(name, clock.monotonicMs() - this.dice.between(60_000, 7_200_000));
    }
  }

  changeLoad(): void {
    const container = this.dice.oneOf(this.#somePod()?.running.containers ?? []);
    container?.changeLoad(someLoad(this.dice), this.#nowMs);
  }

  replacePod(): void {
    const life = this.#somePod();
    if (!life) return;
    this.#end(life);
    const node = this.#someNode();
    if (node) this.#addPod(node.name, this.#nowMs);
  }

  restartContainer(): void {
    const container = this.dice.oneOf(this.#somePod()?.running.containers ?? []);
    if (container?.isRunning(this.#nowMs)) container.restart(this.#nowMs);
  }

  crashContainer(): void {
    const life = this.#somePod();
    const container = this.dice.oneOf(life?.running.containers ?? []);
    if (!life || !container?.isRunning(this.#nowMs)) return;
    container.stop(this.#nowMs);
    this.#later(this.dice.between(10_000, 300_000), () => {
      if (life.node.reach !== 'refusing' && !container.isRunning(this.#nowMs)) container.restart(this.#nowMs);
    });
  }

  /** Moves a pod as a StatefulSet does: its successor starts once it has ended, or is given up on a lost node. */
  movePod(): void {
    const { cluster } = this.#options;
    const life = this.#somePod();
    const target = this.#someNode();
    if (!life || !target || target === life.node) return;
    const { name, uid, containers } = life.running;
    if (cluster.livePods.get(name)?.uid !== uid || this.#moving.has(name)) return;
    this.#moving.add(name);
    const restart = () => {
      this.#moving.delete(name);
      const machine = cluster.machines.get(target.name);
      if (!machine || machine.reach === 'refusing') return this.#end(life); // there is no node for it
      const sketches = containers.map((each) => ({ name: each.name, load: someLoad(this.dice) }));
      const next = cluster.runPod({ name, node: target.name, containers: sketches });
      this.#later(this.dice.between(0, WATCH_LAG_MS), () => cluster.announce(next));
    };
    // If the response has UIDs, the old kubelet may continue to report the old pod after the new one has started.
    if (life.node.endpoint === 'summary' && this.dice.fraction() < 0.5) {
      this.#later(this.dice.between(20_000, 200_000), () => life.node.machine.stop(uid));
    } else {
      this.#end(life);
    }
    this.#later(this.dice.between(2000, 30_000), restart);
  }

  partition(durationMs: number): void {
    const node = this.#someNode();
    if (node?.reach !== 'reachable') return;
    node.reach = 'lost';
    this.#later(durationMs, () => {
      if (node.reach === 'lost') node.reach = 'reachable';
    });
  }

  slowDown(): void {
    const node = this.#someNode();
    if (!node) return;
    node.latencyMs = this.dice.between(1000, 12_000);
    this.#later(600_000, () => {
      node.latencyMs = node.usualLatencyMs;
    });
  }

  delayScrapes(): void {
    const node = this.#someNode();
    if (!node) return;
    node.lateByMs = () => this.dice.between(0, 1900);
    this.#later(600_000, () => {
      node.lateByMs = () => 0;
    });
  }

  loseScrape(): void {
    this.partition(this.#options.resolutionMs);
  }

  reboot(): void {
    const node = this.#someNode();
    if (node?.reach !== 'reachable') return;
    node.crash();
    this.#later(this.dice.between(20_000, 240_000), () => node.boot());
  }

  replaceNode(): void {
    const node = this.#someNode();
    if (node?.reach !== 'reachable') return;
    this.#options.cluster.removeNode(node.name);
    this.#addNode();
  }

  stepClock(minMs: number, maxMs: number): void {
    const node = this.#someNode();
    if (!node) return;
    const byMs = minMs * (maxMs / minMs) ** this.dice.fraction();
    node.clock.skewMs += this.dice.fraction() < 0.5 ? byMs : -byMs;
  }

  get #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  #addPod(node: string, startedAtMs: number): void {
    const { cluster } = this.#options;
    const names = this.dice.fraction() < 0.8 ? ['app'] : ['app', 'sidecar'];
    const life = cluster.runPod({
      name: `pod-${cluster.lives.size + 1}`,
      node,
      startedAtMs,
      containers: names.map((name) => ({ name, load: someLoad(this.dice) })),
    });
    this.#later(this.dice.between(0, WATCH_LAG_MS), () => cluster.announce(life));
  }

  #end(life: PodLife): void {
    life.node.machine.stop(life.running.uid);
    this.#later(this.dice.between(0, WATCH_LAG_MS), () => this.#options.cluster.renounce(life));
  }

  #someNode(): SocketlessNode | undefined {
    return this.dice.oneOf([...this.#options.cluster.machines.values()]);
  }

  #somePod(): PodLife | undefined {
    const node = this.#someNode();
    if (!node || node.reach === 'refusing') return undefined;
    const pod = this.dice.oneOf([...node.machine.pods()]);
    return pod && this.#options.cluster.lives.get(pod.uid);
  }

  #nextMs({ everyHours, per }: Happening): number {
    const { cluster, podsPerNode, pace } = this.#options;
    const count = Math.max(1, cluster.machines.size) * (per === 'pod' ? podsPerNode : 1);
    return this.#nowMs + this.dice.waitMs((everyHours * HOUR_MS) / (count * pace));
  }

  #later(durationMs: number, act: () => void): void {
    void this.#options.clock.sleep(durationMs).then(act);
  }
}
