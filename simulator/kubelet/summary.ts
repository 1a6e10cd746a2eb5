import {
  type NodeMachine,
  podCoreNanoseconds,
  podMemoryBytes,
  podSwapBytes,
  type RunningPod,
} from '../machine/node-machine.ts';
import type { RunningContainer } from '../machine/running-container.ts';
import { appendList, JsonBytes, type JsonPiece, Stamps } from './json-template.ts';
import { CONTAINER_DEPTH, POD_DEPTH, type SummaryTemplates, summaryTemplates } from './summary-templates.ts';
import {
  ContainerSampler,
  housekeepingIntervalMs,
  latestHousekeeping,
  latestLook,
  usageAtLook,
} from './usage-sample.ts';

/** What `/stats/summary` is asked for. */
export interface SummaryOptions {
  /** `?only_cpu_and_memory=true`: no disks, no network, and memory in more detail. */
  readonly onlyCpuAndMemory: boolean;
}

/**
 * A kubelet's responses to `/stats/summary` (`Summary` of k8s.io/kubelet/pkg/apis/stats/v1alpha1), with the fields,
 * order and stamps of whole seconds that a kubelet 1.34 gives; without `psi` and `io` where its machine says so.
 * Written without the objects, as thousands of kubelets in one process are asked every few seconds.
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
    const moment = new SummaryMoment(machine, templates, this.#tools);
    templates.summary.append(bytes, {
      node: () => appendNode(moment),
      pods: () =>
        appendList(bytes, this.#knownPods(), { depth: POD_DEPTH, append: (pod) => pod.append(moment) }),
    });
    return bytes.take();
  }

  /** Keeps what is known of the pods that are still there, and of no others. */
  #knownPods(): readonly PodSummary[] {
    const pods = new Map<RunningPod, PodSummary>();
    for (const pod of this.#machine.pods()) pods.set(pod, this.#pods.get(pod) ?? new PodSummary(pod));
    this.#pods = pods;
    return [...pods.values()];
  }
}

/** Makes what all kubelets of a process can share. */
export function summaryTools(): SummaryTools {
  return { bytes: new JsonBytes(), stamps: new Stamps() };
}

/** {@link SummaryWriter} for those who ask once. */
export function summaryOf(machine: NodeMachine, options: SummaryOptions): string {
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

function appendNode(moment: SummaryMoment): void {
  const { machine } = moment;
  const look = latestHousekeeping(machine.nodeName, machine.bootedAtMs, moment.nowMs);
  const { takenAtMs } = look;
  const podsCpu = usageAtLook(look, (atMs) => machine.podsCoreNanoseconds(atMs));
  const cpu = usageAtLook(look, (atMs) => machine.coreNanoseconds(atMs));
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

/** One container's part in the summaries of its kubelet, with what is the same in all of them. */
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

  append(moment: SummaryMoment): void {
    const { machine, nowMs } = moment;
    const sample = this.#sampler.sample({ nowMs, runtime: machine.runtime, asks: true });
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

/** One pod's part in the summaries of its kubelet, with what is the same in all of them. */
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

  append(moment: SummaryMoment): void {
    const pod = this.#pod;
    const look = latestLook(this.#housekeepingIntervalMs, pod.startedAtMs, moment.nowMs);
    const { takenAtMs } = look;
    const cpu = usageAtLook(look, (atMs) => podCoreNanoseconds(pod, atMs));
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

  /** Without one that waits to be restarted after a crash. */
  #appendContainers(moment: SummaryMoment): void {
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

/** What the summaries of all kubelets of a process are written with. */
export interface SummaryTools {
  readonly bytes: JsonBytes;
  readonly stamps: Stamps;
}

/** Disks are looked at now and then, and what was seen is told until the next time. */
const DISKS_READ_AGO_MS = 3000;

/** What all parts of one summary have in common. */
class SummaryMoment {
  readonly machine: NodeMachine;
  readonly templates: SummaryTemplates;
  readonly bytes: JsonBytes;
  readonly nowMs: number;
  /** Stamps in JSON, as all that {@link stamp} gives. */
  readonly now: JsonPiece;
  readonly disksReadAt: JsonPiece;
  readonly #stamps: Stamps;
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
  stamp(momentMs: number): JsonPiece {
    return this.#stamps.at(this.#stampMs(momentMs));
  }
}

/** Whole pages of a working set that are not file cache: nine tenths will do. */
function anonymousShare(bytes: number): number {
  return Math.floor((bytes * 0.9) / 4096) * 4096;
}
