import type { ScrapeOutcome } from '#lib/resource-metrics/scrape/scraper.ts';
import type { MeasuredUsage } from '#lib/resource-metrics/sink/snapshot.ts';
import {
  type Absence,
  absenceOfNode,
  absenceOfPod,
  MAX_BRIDGED_CYCLES,
  type ResponseTimes,
} from './absence.ts';
import { type Judgement, judge, MIN_REPORTED_STEP_MS } from './judge.ts';
import type { Pipeline } from './pipeline.ts';
import type { PodLife, SocketlessCluster } from './socketless-cluster.ts';
import type { SocketlessNode } from './socketless-node.ts';
import { Counts, type ErrorTally, Quantiles } from './tally.ts';

/** Kinds of values, by the accuracy that is expected of them. */
export const VALUE_KINDS = {
  'container summary': 'Containers, by `/stats/summary`',
  'container resource': 'Containers, by `/metrics/resource`',
  'node summary': 'Nodes, by `/stats/summary`',
  'node resource': 'Nodes, by `/metrics/resource`',
  'node once': 'Nodes that were read once: the rate that the kubelet reports',
  stepped: 'Values over a step of the clock by 20 s or less',
  predecessor: 'Values of the previous pod of the same name, from a kubelet without UIDs',
} as const;

export type ValueKind = keyof typeof VALUE_KINDS;

/** Counts for one kind of object, over all observations of live objects. */
export interface Presence {
  readonly lived: number;
  readonly served: number;
  readonly absences: readonly (readonly [Absence | 'unexplained', number])[];
}

export interface Observations {
  readonly scrapes: { readonly responded: number; readonly lost: number };
  readonly errors: Readonly<Record<ValueKind, ErrorTally>>;
  readonly nodes: Presence;
  readonly pods: Presence;
  readonly worstAgeMs: number;
  readonly faults: readonly string[];
  readonly faultCount: number;
}

/** More would not be read. */
const MAX_FAULTS = 20;

/** Reads the served values as a client does and compares them with the actual usage. */
export class Observer {
  readonly #cluster: SocketlessCluster;
  readonly #times = new Map<string, ResponseTimes>();
  /** Compared values, and the times to which they refer. */
  readonly #judged = new WeakMap<MeasuredUsage, number>();
  readonly #errors: Readonly<Record<ValueKind, Quantiles>> = {
    'container summary': new Quantiles(),
    'container resource': new Quantiles(),
    'node summary': new Quantiles(),
    'node resource': new Quantiles(),
    'node once': new Quantiles(),
    stepped: new Quantiles(),
    predecessor: new Quantiles(),
  };
  readonly #presence = { node: new Counts(), pod: new Counts() };
  readonly #scrapes = { responded: 0, lost: 0 };
  readonly #faults: string[] = [];
  #faultCount = 0;
  #worstAgeMs = 0;

  constructor(cluster: SocketlessCluster) {
    this.#cluster = cluster;
  }

  noteScrape({ nodeName, durationMs, error }: ScrapeOutcome): void {
    this.#scrapes[error ? 'lost' : 'responded']++;
    const times = this.#times.get(nodeName);
    if (error) {
      if (times) this.#times.set(nodeName, { ...times, lostScrapes: times.lostScrapes + 1 });
      return;
    }
    this.#times.set(nodeName, {
      lastMs: this.#nowMs,
      checkedAtMs: this.#nowMs - durationMs / 2,
      previousMs: times?.lastMs,
      lostScrapes: 0,
    });
  }

  check(pipeline: Pipeline): void {
    for (const name of this.#cluster.liveNodes.keys()) {
      const node = this.#cluster.node(name);
      const usage = pipeline.node(name);
      this.#notePresence('node', usage ? 'served' : absenceOfNode(node, this.#times.get(name)), name);
      if (!usage) continue;
      this.#expectFresh(node);
      this.#observeNode(usage, node);
    }
    for (const [name, { uid }] of this.#cluster.livePods) {
      const life = this.#cluster.lives.get(uid);
      if (!life) throw new Error(`Pod "${name}" lives, but was never run`);
      const usage = pipeline.pod(name);
      const times = this.#times.get(life.node.name);
      this.#notePresence('pod', usage ? 'served' : absenceOfPod(life, times), name);
      if (!usage) continue;
      this.#expectFresh(life.node);
      for (const container of usage.containers) this.#observeContainer(container, life);
    }
  }

  result(): Observations {
    const tallies = Object.entries(this.#errors).map(
      ([kind, quantiles]) => [kind, quantiles.tally()] as const,
    );
    return {
      scrapes: this.#scrapes,
      errors: Object.fromEntries(tallies) as Record<ValueKind, ErrorTally>,
      nodes: presenceOf(this.#presence.node),
      pods: presenceOf(this.#presence.pod),
      worstAgeMs: this.#worstAgeMs,
      faults: this.#faults,
      faultCount: this.#faultCount,
    };
  }

  get #nowMs(): number {
    return this.#cluster.clock.monotonicMs();
  }

  #observeNode(usage: MeasuredUsage, node: SocketlessNode): void {
    if (this.#isJudged(usage)) return;
    const machine = node.machineAt(node.clock.trace(usage.timestampMs, 1000)?.momentMs ?? 0);
    const judgement = judge(usage, {
      clock: node.clock,
      endpoint: node.endpoint,
      coreNanoseconds: (atMs) => machine.coreNanoseconds(atMs),
      memoryBytes: (atMs) => machine.workingSetBytes(atMs),
    });
    const isAsClaimed = judgement?.isWithinStamps && judgement.steppedMs === 0;
    const isOwnRate = node.endpoint === 'summary' && usage.windowMs === 10_000 && !isAsClaimed;
    this.#record(isOwnRate ? 'node once' : `node ${node.endpoint}`, usage, judgement);
    if (!isOwnRate) this.#expectTrue(usage, judgement, node.name);
  }

  #observeContainer(usage: MeasuredUsage, life: PodLife): void {
    if (this.#isJudged(usage)) return;
    const judgement = judgeContainer(usage, life);
    if (!isTrue(judgement) && this.#isOfPredecessor(usage, life)) {
      this.#record('predecessor', usage, judgement);
      return;
    }
    this.#record(`container ${life.node.endpoint}`, usage, judgement);
    this.#expectTrue(usage, judgement, `${life.running.name}/${usage.name} on ${life.node.name}`);
  }

  /** Whether a value is of another pod of the same name, reported by a kubelet whose responses have no UIDs. */
  #isOfPredecessor(usage: MeasuredUsage, { running }: PodLife): boolean {
    const sameName = this.#cluster.livesByName.get(running.name) ?? [];
    return sameName.some((life) => life.node.endpoint === 'resource' && isTrue(judgeContainer(usage, life)));
  }

  /** Whether the value was compared before: since then, it has only aged. */
  #isJudged(usage: MeasuredUsage): boolean {
    const momentMs = this.#judged.get(usage);
    if (momentMs === undefined) return false;
    this.#worstAgeMs = Math.max(this.#worstAgeMs, this.#nowMs - momentMs);
    return true;
  }

  #record(kind: ValueKind, usage: MeasuredUsage, judgement: Judgement | undefined): void {
    if (!judgement) return;
    const { relativeError, momentMs, steppedMs } = judgement;
    this.#judged.set(usage, momentMs);
    const isStepped = steppedMs > 0 && kind !== 'node once' && kind !== 'predecessor';
    this.#errors[isStepped ? 'stepped' : kind].add(relativeError);
  }

  #expectTrue(usage: MeasuredUsage, judgement: Judgement | undefined, of: string): void {
    const isSane = usage.cpuNanocores >= 0 && usage.windowMs >= 10_000;
    const isUnstepped = (judgement?.steppedMs ?? 0) < MIN_REPORTED_STEP_MS;
    if (isSane && isUnstepped && isTrue(judgement)) return;
    this.#fault(`${of}: this never was: ${JSON.stringify({ ...usage, ...judgement })}`);
  }

  #expectFresh({ name }: SocketlessNode): void {
    const lostScrapes = this.#times.get(name)?.lostScrapes ?? 0;
    if (lostScrapes > MAX_BRIDGED_CYCLES) this.#fault(`${name}: served after ${lostScrapes} lost scrapes`);
  }

  #notePresence(kind: 'node' | 'pod', what: 'served' | Absence | undefined, name: string): void {
    this.#presence[kind].add(what ?? 'unexplained');
    if (!what) this.#fault(`${kind} ${name}: not served at ${this.#nowMs} ms, and nothing excuses it`);
  }

  #fault(fault: string): void {
    this.#faultCount++;
    if (this.#faults.length < MAX_FAULTS) this.#faults.push(fault);
  }
}

function presenceOf(counts: Counts): Presence {
  const all = counts.entries();
  return {
    lived: all.reduce((sum, [, count]) => sum + count, 0),
    served: counts.of('served'),
    absences: all.filter(([what]) => what !== 'served') as [Absence | 'unexplained', number][],
  };
}

function judgeContainer(usage: MeasuredUsage, { node, running }: PodLife): Judgement | undefined {
  const container = running.containers.find(({ name }) => name === usage.name);
  return (
    container &&
    judge(usage, {
      clock: node.clock,
      endpoint: node.endpoint,
      coreNanoseconds: (atMs) => container.lifetimeCoreNanoseconds(atMs),
      memoryBytes: (atMs) => container.memoryBytes(atMs),
    })
  );
}

/** Whether a value is as accurate as it can be; a window with a small clock step may have any error. */
function isTrue(judgement: Judgement | undefined): boolean {
  if (!judgement) return false;
  return judgement.steppedMs > 0 || (judgement.isWithinStamps && judgement.isTrueMemory);
}
