import type { NodeMachine, RunningPod } from '../machine/node-machine.ts';
import { appendList, JsonBytes, Stamps } from './json-template.ts';
import { PodSummary } from './pod-summary.ts';
import { anonymousShare, SummaryMoment, type SummaryTools } from './summary-moment.ts';
import { POD_DEPTH, summaryTemplates } from './summary-templates.ts';
import { latestHousekeeping, usageAtLook } from './usage-sample.ts';

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
