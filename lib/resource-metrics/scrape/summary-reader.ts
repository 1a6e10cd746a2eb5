import type { ExtraBytes, ExtraResources } from '#lib/resource-metrics/batch/extra-resources.ts';
import type { NodePoint, PodPoints } from '#lib/resource-metrics/batch/node-answer.ts';
import { type ContainerReport, completePod } from './complete-pod.ts';
import { ExcessiveAnswer } from './excessive-answer.ts';
import type { JsonScanner } from './json-scanner.ts';
import { KnownWords } from './known-words.ts';

/** Many times what a node can run. */
export const MOST_CONTAINERS = 50_000;

const KEYS = new KnownWords([
  ...['node', 'pods', 'nodeName', 'podRef', 'containers', 'namespace', 'name', 'uid', 'startTime'],
  ...['cpu', 'time', 'usageNanoCores', 'usageCoreNanoSeconds', 'memory', 'workingSetBytes'],
  ...['swap', 'swapUsageBytes', 'rootfs', 'logs', 'fs', 'usedBytes'],
]);

/** What a summary says of a node, a pod's container or anything else that uses resources. */
interface Stats {
  name: string | undefined;
  startedAtMs: number | undefined;
  takenAtMs: number | undefined;
  cpuCoreNanoseconds: number | undefined;
  cpuUsageNanocores: number | undefined;
  memoryBytes: number | undefined;
  swapBytes: number | undefined;
  /** What its root file system, its logs, and the file system of its kubelet take. */
  rootfsBytes: number | undefined;
  logsBytes: number | undefined;
  fsBytes: number | undefined;
}

/** What a summary says, as far as it can be read. */
export interface SummaryContents {
  /** The kubelet's own node's name. */
  readonly nodeName: string | undefined;
  readonly node: Omit<NodePoint, 'name'> | undefined;
  /** One that has neither name nor namespace is `undefined`. */
  readonly pods: readonly (PodPoints | undefined)[];
  /** Whether there was a node, or a list of pods, at all. */
  readonly isSummary: boolean;
}

/** Reads a summary from the front to the back; of members of one name the last counts, as everywhere in JSON. */
export class SummaryReader {
  readonly #json: JsonScanner;
  readonly #extras: ExtraResources;
  #containers = 0;

  constructor(json: JsonScanner, extras: ExtraResources) {
    this.#json = json;
    this.#extras = extras;
  }

  /** @throws where the text is not a JSON object, or has more containers than a node can */
  read(): SummaryContents {
    if (!this.#json.enterObject()) throw new Error('the answer is not a JSON object');
    let node: Stats | undefined;
    let pods: readonly (PodPoints | undefined)[] | undefined;
    for (let key = this.#nextKey(); key !== undefined; key = this.#nextKey()) {
      if (key === 'node') node = this.#stats('nodeName');
      else if (key === 'pods') pods = this.#list(() => this.#pod());
      else this.#json.skip();
    }
    this.#json.end();
    return {
      nodeName: node?.name,
      node: node && nodePoint(node, this.#extras),
      pods: pods ?? [],
      isSummary: node !== undefined || pods !== undefined,
    };
  }

  #pod(): PodPoints | undefined {
    this.#count();
    let reference: PodReference | undefined;
    let reports: readonly (ContainerReport | undefined)[] | undefined;
    if (!this.#json.enterObject()) return undefined;
    for (let key = this.#nextKey(); key !== undefined; key = this.#nextKey()) {
      if (key === 'podRef') reference = this.#reference();
      else if (key === 'containers') reports = this.#list(() => this.#container());
      else this.#json.skip();
    }
    const { namespace, name, uid } = reference ?? {};
    if (namespace === undefined || name === undefined) return undefined;
    const named = (reports ?? []).filter((report) => report !== undefined);
    return { namespace, name, uid, ...completePod(named) };
  }

  #reference(): PodReference | undefined {
    if (!this.#json.enterObject()) return undefined;
    const reference: PodReference = { namespace: undefined, name: undefined, uid: undefined };
    for (let key = this.#nextKey(); key !== undefined; key = this.#nextKey()) {
      if (key === 'namespace' || key === 'name' || key === 'uid') reference[key] = this.#json.text();
      else this.#json.skip();
    }
    return reference;
  }

  #container(): ContainerReport | undefined {
    this.#count();
    const stats = this.#stats('name');
    if (stats?.name === undefined) return undefined;
    const { name, startedAtMs, takenAtMs, cpuCoreNanoseconds, memoryBytes } = stats;
    const report = { name, startedAtMs, takenAtMs, cpuCoreNanoseconds, memoryBytes };
    return this.#extras.size > 0 ? { ...report, extraBytes: containerExtras(stats, this.#extras) } : report;
  }

  /** @param nameKey under which its name is told */
  #stats(nameKey: string): Stats | undefined {
    if (!this.#json.enterObject()) return undefined;
    const stats = noStats();
    for (let key = this.#nextKey(); key !== undefined; key = this.#nextKey()) {
      if (key === nameKey) stats.name = this.#json.text();
      else if (key === 'startTime') stats.startedAtMs = this.#time();
      else if (key === 'cpu') this.#cpu(stats);
      else if (key === 'memory') stats.memoryBytes = positive(this.#numberIn('workingSetBytes'));
      else if (key === 'swap') stats.swapBytes = notNegative(this.#numberIn('swapUsageBytes'));
      else if (key === 'rootfs') stats.rootfsBytes = notNegative(this.#numberIn('usedBytes'));
      else if (key === 'logs') stats.logsBytes = notNegative(this.#numberIn('usedBytes'));
      else if (key === 'fs') stats.fsBytes = notNegative(this.#numberIn('usedBytes'));
      else this.#json.skip();
    }
    return stats;
  }

  #cpu(stats: Stats): void {
    stats.takenAtMs = undefined;
    stats.cpuCoreNanoseconds = undefined;
    stats.cpuUsageNanocores = undefined;
    if (!this.#json.enterObject()) return;
    for (let key = this.#nextKey(); key !== undefined; key = this.#nextKey()) {
      if (key === 'time') stats.takenAtMs = this.#time();
      else if (key === 'usageCoreNanoSeconds') stats.cpuCoreNanoseconds = positive(this.#json.number());
      else if (key === 'usageNanoCores') stats.cpuUsageNanocores = positive(this.#json.number());
      else this.#json.skip();
    }
  }

  #numberIn(wanted: string): number | undefined {
    if (!this.#json.enterObject()) return undefined;
    let value: number | undefined;
    for (let key = this.#nextKey(); key !== undefined; key = this.#nextKey()) {
      if (key === wanted) value = this.#json.number();
      else this.#json.skip();
    }
    return value;
  }

  #list<T>(readElement: () => T): readonly T[] | undefined {
    if (!this.#json.enterArray()) return undefined;
    const elements: T[] = [];
    while (this.#json.nextElement()) elements.push(readElement());
    return elements;
  }

  /** Go's zero time, of the year 1, is none. */
  #time(): number | undefined {
    return positive(this.#json.timeMs());
  }

  #nextKey(): string | undefined {
    return this.#json.nextKey(KEYS);
  }

  #count(): void {
    if (++this.#containers <= MOST_CONTAINERS) return;
    throw new ExcessiveAnswer('parts', `the answer has more than ${MOST_CONTAINERS} pods and containers`);
  }
}

interface PodReference {
  namespace: string | undefined;
  name: string | undefined;
  uid: string | undefined;
}

function noStats(): Stats {
  return {
    name: undefined,
    startedAtMs: undefined,
    takenAtMs: undefined,
    cpuCoreNanoseconds: undefined,
    cpuUsageNanocores: undefined,
    memoryBytes: undefined,
    swapBytes: undefined,
    rootfsBytes: undefined,
    logsBytes: undefined,
    fsBytes: undefined,
  };
}

function nodePoint(stats: Stats, extras: ExtraResources): Omit<NodePoint, 'name'> | undefined {
  const { startedAtMs, takenAtMs, cpuCoreNanoseconds, memoryBytes, cpuUsageNanocores } = stats;
  if (takenAtMs === undefined || cpuCoreNanoseconds === undefined || memoryBytes === undefined)
    return undefined;
  const point = { startedAtMs, takenAtMs, cpuCoreNanoseconds, memoryBytes, cpuUsageNanocores };
  // The file system of its kubelet is a node's ephemeral storage.
  return extras.size > 0
    ? { ...point, extraBytes: extraBytes(extras, stats.swapBytes, stats.fsBytes) }
    : point;
}

/** A container's writable layer and its logs are its ephemeral storage. */
function containerExtras({ swapBytes, rootfsBytes, logsBytes }: Stats, extras: ExtraResources): ExtraBytes {
  const isKnown = rootfsBytes !== undefined && logsBytes !== undefined;
  return extraBytes(extras, swapBytes, isKnown ? rootfsBytes + logsBytes : undefined);
}

function extraBytes(
  extras: ExtraResources,
  swap: number | undefined,
  storage: number | undefined,
): ExtraBytes {
  return {
    ...(extras.has('ephemeral-storage') && storage !== undefined && { 'ephemeral-storage': storage }),
    ...(extras.has('swap') && swap !== undefined && { swap }),
  };
}

/** Kubelets write 0 for what they do not know; what is no number is not known, either. */
function positive(value: number | undefined): number | undefined {
  return value !== undefined && value > 0 && Number.isFinite(value) ? value : undefined;
}

/** A 0 is one here: kubelets leave out these sections where they know nothing. */
function notNegative(value: number | undefined): number | undefined {
  return value !== undefined && value >= 0 && Number.isFinite(value) ? value : undefined;
}
