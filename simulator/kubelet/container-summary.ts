import type { RunningPod } from '../machine/node-machine.ts';
import type { RunningContainer } from '../machine/running-container.ts';
import { anonymousShare, type SummaryMoment } from './summary-moment.ts';
import { ContainerSampler } from './usage-sample.ts';

/** One container's part in the summaries of its kubelet, with what is the same in all of them. */
export class ContainerSummary {
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
