import {
  podCoreNanoseconds,
  podMemoryBytes,
  podSwapBytes,
  type RunningPod,
} from '../machine/node-machine.ts';
import { ContainerSummary } from './container-summary.ts';
import { appendList } from './json-template.ts';
import { anonymousShare, type SummaryMoment } from './summary-moment.ts';
import { CONTAINER_DEPTH, POD_DEPTH } from './summary-templates.ts';
import { housekeepingIntervalMs, latestLook, usageAtLook } from './usage-sample.ts';

/** One pod's part in the summaries of its kubelet, with what is the same in all of them. */
export class PodSummary {
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
