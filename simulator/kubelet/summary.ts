import {
  type NodeMachine,
  podCoreNanoseconds,
  podMemoryBytes,
  podSwapBytes,
  type RunningPod,
} from '../machine/node-machine.ts';
import type { RunningContainer } from '../machine/running-container.ts';
import { appendList, JsonBytes, type JsonChunk, TimestampCache } from './json-template.ts';
import { CONTAINER_DEPTH, POD_DEPTH, type SummaryTemplates, summaryTemplates } from './summary-templates.ts';
import {
  ContainerSampler,
  housekeepingIntervalMs,
  latestHousekeeping,
  latestSample,
  sampleCounter,
} from './usage-sample.ts';

export interface SummaryOptions {
  /** `?only_cpu_and_memory=true`: omits disks and network, and has memory in more detail. */
  readonly onlyCpuAndMemory: boolean;
}

/**
 * A kubelet's responses to `/stats/summary` (`Summary` of k8s.io/kubelet/pkg/apis/stats/v1alpha1), with the fields,
 * order and timestamps of whole seconds of a kubelet 1.34, and without `psi` and `io` when its machine has no
 * KubeletPSI. Written without intermediate objects: thousands of kubelets of one process are scraped every few seconds.
 */
export class SummaryWriter {
  readonly #machine: NodeMachine;
  readonly #tools: SummaryTools;
  #pods = new Map<RunningPod, PodSummary>();

  constructor(machine: NodeMachine, tools: SummaryTools) {
    this.#machine = machine;
    this.#tools = tools;
  }

  write({ onlyCpuAndMemory }: SummaryOptions): Buffer {
    const machine = this.#machine;
    const { bytes } = this.#tools;
    const templates =
      TEMPLATES[machine.kubeletPsi ? 'withPsi' : 'withoutPsi'][onlyCpuAndMemory ? 'few' : 'all'];
    const moment = new SummaryContext(machine, templates, this.#tools);
    templates.summary.append(bytes, {
      node: () => appendNode(moment),
      pods: () =>
        appendList(bytes, this.#podSummaries(), { depth: POD_DEPTH, append: (pod) => pod.append(moment) }),
    });
    return bytes.take();
  }

  /** Caches the parts of pods that still exist. */
  #podSummaries(): readonly PodSummary[] {
    const pods = new Map<RunningPod, PodSummary>();
    for (const pod of this.#machine.pods()) pods.set(pod, this.#pods.get(pod) ?? new PodSummary(pod));
    this.#pods = pods;
    return [...pods.values()];
  }
}

/** Builds the parts that all kubelets of a process share. */
export function summaryTools(): SummaryTools {
  return { bytes: new JsonBytes(), stamps: new TimestampCache() };
}

/** {@link SummaryWriter} for a single request. */
export function formatSummary(machine: NodeMachine, options: SummaryOptions): string {
  return new SummaryWriter(machine, summaryTools()).write(options).toString();
}

const TEMPLATES = {
  withPsi: {
    few: summaryTemplates({ onlyCpuAndMemory: true, kubeletPsi: true }),
    all: summaryTemplates({ onlyCpuAndMemory: false, kubeletPsi: true }),
  },
  withoutPsi: {
    few: summaryTemplates({ onlyCpuAndMemory: true, kubeletPsi: false }),
    all: summaryTemplates({ onlyCpuAndMemory: false, kubeletPsi: false }),
  },
};

function appendNode(moment: SummaryContext): void {
  const { machine } = moment;
  const times = latestHousekeeping(machine.nodeName, machine.bootedAtMs, moment.nowMs);
  const { takenAtMs } = times;
  const podsCpu = sampleCounter(times, (atMs) => machine.podsCoreNanoseconds(atMs));
  const cpu = sampleCounter(times, (atMs) => machine.coreNanoseconds(atMs));
  const podsBytes = machine.podsMemoryBytes(takenAtMs);
  const workingSetBytes = machine.workingSetBytes(takenAtMs);
  const swapUsageBytes = machine.swapUsageBytes(takenAtMs);
  moment.templates.node.append(moment.bytes, {
    nodeName: JSON.stringify(machine.nodeName),
    startTime: moment.stamp(machine.bootedAtMs),
    time: moment.stamp(takenAtMs),
    now: moment.now,
    disksReadAt: moment.disksReadAt,
    podsNanoCores: podsCpu.nanocores,
    podsCoreNanoSeconds: podsCpu.coreNanoseconds,
    podsAvailableBytes: machine.memoryBytes - podsBytes,
    podsWorkingSetBytes: podsBytes,
    podsRssBytes: anonymousShare(podsBytes),
    usageNanoCores: cpu.nanocores,
    usageCoreNanoSeconds: cpu.coreNanoseconds,
    availableBytes: machine.memoryBytes - workingSetBytes,
    workingSetBytes,
    rssBytes: anonymousShare(workingSetBytes),
    swapAvailableBytes: machine.swapBytes - swapUsageBytes,
    swapUsageBytes,
  });
}

/** One container's part in summaries, with its constant parts encoded once. */
class ContainerSummary {
  readonly #container: RunningContainer;
  readonly #name: string;
  readonly #sampler: ContainerSampler;

  constructor(pod: RunningPod, container: RunningContainer) {
    this.#container = container;
    this.#name = JSON.stringify(container.name);
    this.#sampler = new ContainerSampler(pod, container);
  }

  isRunning(atMs: number): boolean {
    return this.#container.isRunning(atMs);
  }

  append(moment: SummaryContext): void {
    const { machine, nowMs } = moment;
    const sample = this.#sampler.sample({ nowMs, runtime: machine.runtime, startsInterval: true });
    const swapUsageBytes = this.#container.swapBytes(sample.takenAtMs);
    moment.templates.container.append(moment.bytes, {
      name: this.#name,
      startTime: moment.stamp(sample.startedAtMs),
      time: moment.stamp(sample.takenAtMs),
      now: moment.now,
      disksReadAt: moment.disksReadAt,
      usageNanoCores: sample.usageNanoCores,
      usageCoreNanoSeconds: sample.usageCoreNanoSeconds,
      workingSetBytes: sample.workingSetBytes,
      rssBytes: anonymousShare(sample.workingSetBytes),
      swapAvailableBytes: machine.swapBytes - swapUsageBytes,
      swapUsageBytes,
    });
  }
}

/** One pod's part in summaries, with its constant parts encoded once. */
class PodSummary {
  readonly #pod: RunningPod;
  readonly #reference: string;
  readonly #housekeepingIntervalMs: number;
  readonly #containers: readonly ContainerSummary[];

  constructor(pod: RunningPod) {
    this.#pod = pod;
    this.#reference = referenceTo(pod);
    this.#housekeepingIntervalMs = housekeepingIntervalMs(pod.uid);
    this.#containers = pod.containers.map((container) => new ContainerSummary(pod, container));
  }

  append(moment: SummaryContext): void {
    const pod = this.#pod;
    const times = latestSample(this.#housekeepingIntervalMs, pod.startedAtMs, moment.nowMs);
    const { takenAtMs } = times;
    const cpu = sampleCounter(times, (atMs) => podCoreNanoseconds(pod, atMs));
    const workingSetBytes = podMemoryBytes(pod, takenAtMs);
    moment.templates.pod.append(moment.bytes, {
      podRef: this.#reference,
      startTime: moment.stamp(pod.startedAtMs),
      containers: () => this.#appendContainers(moment),
      time: moment.stamp(takenAtMs),
      now: moment.now,
      usageNanoCores: cpu.nanocores,
      usageCoreNanoSeconds: cpu.coreNanoseconds,
      workingSetBytes,
      rssBytes: anonymousShare(workingSetBytes),
      swapUsageBytes: podSwapBytes(pod, takenAtMs),
    });
  }

  /** Omits containers that wait for a restart. */
  #appendContainers(moment: SummaryContext): void {
    const running = this.#containers.filter((container) => container.isRunning(moment.nowMs));
    appendList(moment.bytes, running, {
      depth: CONTAINER_DEPTH,
      append: (container) => container.append(moment),
    });
  }
}

function referenceTo({ name, namespace, uid }: RunningPod): string {
  const indent = `\n${' '.repeat(POD_DEPTH + 1)}`;
  return JSON.stringify({ name, namespace, uid }, null, 1).replaceAll('\n', indent);
}

/** The shared parts of all summaries of a process. */
export interface SummaryTools {
  readonly bytes: JsonBytes;
  readonly stamps: TimestampCache;
}

/** Age of disk usage, which kubelets read periodically. */
const DISKS_READ_AGO_MS = 3000;

/** The values that all parts of one summary share. */
class SummaryContext {
  readonly machine: NodeMachine;
  readonly templates: SummaryTemplates;
  readonly bytes: JsonBytes;
  readonly nowMs: number;
  /** The current time in JSON. */
  readonly now: JsonChunk;
  readonly disksReadAt: JsonChunk;
  readonly #stamps: TimestampCache;
  readonly #stampMs: (momentMs: number) => number;

  constructor(machine: NodeMachine, templates: SummaryTemplates, { bytes, stamps }: SummaryTools) {
    this.machine = machine;
    this.templates = templates;
    this.bytes = bytes;
    this.#stamps = stamps;
    this.#stampMs = machine.clock.reading();
    this.nowMs = machine.clock.nowMs();
    this.now = this.stamp(this.nowMs);
    this.disksReadAt = this.stamp(this.nowMs - DISKS_READ_AGO_MS);
  }

  /** @param momentMs of the node's monotonic clock */
  stamp(momentMs: number): JsonChunk {
    return this.#stamps.at(this.#stampMs(momentMs));
  }
}

/** The part of a working set that is not file cache, in whole pages: nine tenths. */
function anonymousShare(bytes: number): number {
  return Math.floor((bytes * 0.9) / 4096) * 4096;
}
