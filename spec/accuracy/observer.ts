import type { ScrapeOutcome } from '#lib/resource-metrics/scrape/scraper.ts';
import type { MeasuredUsage } from '#lib/resource-metrics/sink/snapshot.ts';
import { latestNodeHousekeeping, sampleTimes } from '#simulator/kubelet/usage-sample.ts';
import {
  type Absence,
  absenceOfNode,
  absenceOfPod,
  MAX_BRIDGED_CYCLES,
  type ResponseTimes,
} from './absence.ts';
import { compare, type Judgement, judge, MIN_REPORTED_STEP_MS, samplesAt, type TrueCourse } from './judge.ts';
import type { Pipeline } from './pipeline.ts';
import type { PodLife, SocketlessCluster } from './socketless-cluster.ts';
import type { SocketlessNode } from './socketless-node.ts';
import { Counts, type ErrorTally, Quantiles } from './tally.ts';

/** Kinds of values, by the accuracy that is expected of them. */
export const VALUE_KINDS = {
  'container on demand': 'Containers that are read when requested, by `/stats/summary`',
  'container cached': 'Containers that cAdvisor samples every 10 to 20 s, by `/stats/summary`',
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
  /** Lengths of windows in milliseconds. */
  readonly windows: Readonly<Record<ValueKind, ErrorTally>>;
  readonly nodes: Presence;
  readonly pods: Presence;
  readonly worstAgeMs: number;
  /** Longest window of a container that is read on demand, between two scrapes that started and ended in time. */
  readonly onTimeWindowMs: number;
  readonly faults: readonly string[];
  readonly faultCount: number;
}

/** How much longer than a cycle a window may be, if scrapes start and end within this time. */
const MAX_LATENESS_MS = 2000;

/** More would not be read. */
const MAX_FAULTS = 20;

/** Reads the served values as a client does and compares them with the actual usage. */
export class Observer {
  readonly #cluster: SocketlessCluster;
  readonly #resolutionMs: number;
  #onTimeWindowMs = 0;
  readonly #times = new Map<string, ResponseTimes>();
  /** Compared values, and the times to which they refer. */
  readonly #judged = new WeakMap<MeasuredUsage, number>();
  readonly #errors = quantilesByKind();
  readonly #windows = quantilesByKind();
  readonly #presence = { node: new Counts(), pod: new Counts() };
  readonly #scrapes = { responded: 0, lost: 0 };
  readonly #faults: string[] = [];
  #faultCount = 0;
  #worstAgeMs = 0;

  constructor(cluster: SocketlessCluster, resolutionMs: number) {
    this.#cluster = cluster;
    this.#resolutionMs = resolutionMs;
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
      checkedAtMs: this.#cluster.machines.get(nodeName)?.readAtMs.at(-1) ?? this.#nowMs,
      previousMs: times?.lastMs,
      lostScrapes: 0,
      isOnTime:
        durationMs < MAX_LATENESS_MS && times?.lostScrapes === 0 && times.durationMs < MAX_LATENESS_MS,
      durationMs,
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
    return {
      scrapes: this.#scrapes,
      errors: talliesOf(this.#errors),
      windows: talliesOf(this.#windows),
      nodes: presenceOf(this.#presence.node),
      pods: presenceOf(this.#presence.pod),
      worstAgeMs: this.#worstAgeMs,
      onTimeWindowMs: this.#onTimeWindowMs,
      faults: this.#faults,
      faultCount: this.#faultCount,
    };
  }

  get #nowMs(): number {
    return this.#cluster.clock.monotonicMs();
  }

  #observeNode(usage: MeasuredUsage, node: SocketlessNode): void {
    if (this.#isJudged(usage)) return;
    const courses = coursesOf(node);
    const judgement = firstDefined(courses, (course) => judge(usage, course));
    const isAsClaimed = judgement?.isWithinStamps && judgement.steppedMs === 0;
    const isOwnRate = node.endpoint === 'summary' && usage.windowMs === 10_000 && !isAsClaimed;
    if (isOwnRate) {
      this.#record(
        'node once',
        usage,
        firstDefined(courses, (course) => judgeOwnRate(usage, course)),
      );
      return;
    }
    this.#record(`node ${node.endpoint}`, usage, judgement);
    this.#expectTrue(usage, judgement, node.name);
  }

  #observeContainer(usage: MeasuredUsage, life: PodLife): void {
    if (this.#isJudged(usage)) return;
    const judgement = judgeContainer(usage, life);
    if (!isTrue(judgement) && this.#isOfPredecessor(usage, life)) {
      this.#record('predecessor', usage, judgement);
      return;
    }
    const { node, running } = life;
    const isCached = node.runtime === 'cadvisor';
    const kind = node.endpoint === 'resource' ? 'resource' : isCached ? 'cached' : 'on demand';
    const of = `${running.name}/${usage.name} on ${node.name}`;
    this.#record(`container ${kind}`, usage, judgement);
    this.#expectTrue(usage, judgement, of);
    if (!isCached && judgement?.steppedMs === 0) this.#expectShort(usage, node, of);
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
    this.#windows[isStepped ? 'stepped' : kind].add(usage.windowMs);
  }

  /** A window is one cycle, give or take the lateness of a scrape, unless one was lost or slow. */
  #expectShort({ windowMs }: MeasuredUsage, { name }: SocketlessNode, of: string): void {
    if (!this.#times.get(name)?.isOnTime) return;
    this.#onTimeWindowMs = Math.max(this.#onTimeWindowMs, windowMs);
    if (windowMs > this.#resolutionMs + MAX_LATENESS_MS) this.#fault(`${of}: window of ${windowMs} ms`);
  }

  #expectTrue(usage: MeasuredUsage, judgement: Judgement | undefined, of: string): void {
    const isSane = usage.cpuNanocores >= 0 && usage.windowMs >= 9500;
    const isUnstepped = (judgement?.steppedMs ?? 0) < MIN_REPORTED_STEP_MS;
    if (isSane && isUnstepped && isTrue(judgement)) return;
    this.#fault(`${of}: not the actual usage: ${JSON.stringify({ ...usage, ...judgement })}`);
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

function quantilesByKind(): Readonly<Record<ValueKind, Quantiles>> {
  const kinds = Object.keys(VALUE_KINDS) as ValueKind[];
  return Object.fromEntries(kinds.map((kind) => [kind, new Quantiles()])) as Record<ValueKind, Quantiles>;
}

function talliesOf(all: Readonly<Record<ValueKind, Quantiles>>): Readonly<Record<ValueKind, ErrorTally>> {
  const tallies = Object.entries(all).map(([kind, quantiles]) => [kind, quantiles.tally()] as const);
  return Object.fromEntries(tallies) as Record<ValueKind, ErrorTally>;
}

function firstDefined<T, R>(all: readonly T[], find: (one: T) => R | undefined): R | undefined {
  for (const one of all) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The usage of a node by each of its last boots, latest first. */
function coursesOf(node: SocketlessNode): readonly TrueCourse[] {
  const machines = new Set(node.readAtMs.map((atMs) => node.machineAt(atMs)));
  return [...machines].toReversed().map((machine) => ({
    clock: node.clock,
    endpoint: node.endpoint,
    sampledAtMs: inOrder([
      machine.bootedAtMs,
      ...node.readAtMs
        .filter((atMs) => atMs >= machine.bootedAtMs)
        .map((atMs) => latestNodeHousekeeping(machine.bootedAtMs, atMs).takenAtMs),
    ]),
    coreNanoseconds: (atMs) => machine.coreNanoseconds(atMs),
    memoryBytes: (atMs) => machine.workingSetBytes(atMs),
  }));
}

/** Compares the kubelet's own rate with the actual usage over the window that is stated for it. */
function judgeOwnRate(usage: MeasuredUsage, course: TrueCourse): Judgement | undefined {
  const [toMs] = samplesAt(usage.timestampMs, course);
  if (toMs === undefined) return undefined;
  const fromMs = toMs - usage.windowMs;
  return compare(usage, { fromMs, toMs, course });
}

function judgeContainer(usage: MeasuredUsage, { node, running }: PodLife): Judgement | undefined {
  const container = running.containers.find(({ name }) => name === usage.name);
  if (!container) return undefined;
  const { runtime } = node;
  const reads = node.readAtMs.filter((nowMs) => nowMs >= running.startedAtMs);
  return judge(usage, {
    clock: node.clock,
    endpoint: node.endpoint,
    sampledAtMs: inOrder([
      ...reads.map((nowMs) => container.startedAtMs(nowMs)),
      ...reads.map((nowMs) => sampleTimes(running, container, { nowMs, runtime }).takenAtMs),
    ]),
    coreNanoseconds: (atMs) => container.lifetimeCoreNanoseconds(atMs),
    memoryBytes: (atMs) => container.memoryBytes(atMs),
  });
}

function inOrder(moments: readonly number[]): readonly number[] {
  return [...new Set(moments)].sort((one, other) => one - other);
}

/** Whether a value is as accurate as it can be; a window with a small clock step may have any error. */
function isTrue(judgement: Judgement | undefined): boolean {
  if (!judgement) return false;
  return judgement.steppedMs > 0 || (judgement.isWithinStamps && judgement.isTrueMemory);
}
