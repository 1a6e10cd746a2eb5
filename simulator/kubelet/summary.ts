import { formatTimestamp } from '../objects/kubernetes-object.ts';
import {
  type NodeMachine,
  podCoreNanoseconds,
  podMemoryBytes,
  podSwapBytes,
  type RunningPod,
  runningContainers,
} from './node-machine.ts';
import type { RunningContainer } from './running-container.ts';
import {
  latestHousekeeping,
  latestNodeHousekeeping,
  sampleContainer,
  sampleCounter,
} from './usage-sample.ts';

interface SummaryOptions {
  /** `?only_cpu_and_memory=true`: omits disks and network, and has memory in more detail. */
  readonly onlyCpuAndMemory: boolean;
}

/**
 * A kubelet's response to `/stats/summary` (`Summary` of k8s.io/kubelet/pkg/apis/stats/v1alpha1), with the fields,
 * order and timestamps of whole seconds of a kubelet 1.34, and without `psi` and `io` when its machine has no
 * KubeletPSI.
 */
export function formatSummary(machine: NodeMachine, { onlyCpuAndMemory }: SummaryOptions): string {
  const moment = new SummaryMoment(machine, onlyCpuAndMemory);
  const pods = Array.from(machine.pods(), (pod) => podStats(pod, moment));
  return JSON.stringify({ node: nodeStats(moment), pods }, null, 1);
}

/** Age of disk usage, which kubelets read periodically. */
const DISKS_READ_AGO_MS = 3000;

/** The values that all parts of one summary share. */
class SummaryMoment {
  readonly machine: NodeMachine;
  readonly onlyCpuAndMemory: boolean;
  readonly nowMs: number;
  /** The current time in text. */
  readonly now: string;
  readonly disksReadAt: string;
  readonly #stampMs: (momentMs: number) => number;
  readonly #stamps = new Map<number, string>();

  constructor(machine: NodeMachine, onlyCpuAndMemory: boolean) {
    this.machine = machine;
    this.onlyCpuAndMemory = onlyCpuAndMemory;
    this.#stampMs = machine.clock.reading();
    this.nowMs = machine.clock.nowMs();
    this.now = this.stamp(this.nowMs);
    this.disksReadAt = this.stamp(this.nowMs - DISKS_READ_AGO_MS);
  }

  /** @param momentMs of the node's monotonic clock */
  stamp(momentMs: number): string {
    const second = Math.floor(this.#stampMs(momentMs) / 1000);
    const stamp = this.#stamps.get(second) ?? formatTimestamp(second * 1000);
    this.#stamps.set(second, stamp);
    return stamp;
  }
}

const NO_PRESSURE = { total: 0, avg10: 0, avg60: 0, avg300: 0 };
const PSI = { psi: { full: NO_PRESSURE, some: NO_PRESSURE } };

function nodeStats(moment: SummaryMoment) {
  const { machine, onlyCpuAndMemory, nowMs, now, disksReadAt } = moment;
  const times = latestNodeHousekeeping(machine.bootedAtMs, nowMs);
  const { takenAtMs } = times;
  const startTime = moment.stamp(machine.bootedAtMs);
  const time = moment.stamp(takenAtMs);
  const podsMemory = machine.podsMemoryBytes(takenAtMs);
  const workingSet = machine.workingSetBytes(takenAtMs);
  const swapUsageBytes = machine.swapUsageBytes(takenAtMs);
  return {
    nodeName: machine.nodeName,
    systemContainers: [
      {
        name: 'pods',
        startTime,
        cpu: {
          time,
          ...sampleCounter(times, (atMs) => machine.podsCoreNanoseconds(atMs)),
          ...pressure(machine),
        },
        memory: cgroupMemory(machine, time, podsMemory, { availableBytes: machine.memoryBytes - podsMemory }),
        ...(onlyCpuAndMemory ? {} : io(machine, time)),
        swap: { time, swapUsageBytes },
      },
    ],
    startTime,
    cpu: { time, ...sampleCounter(times, (atMs) => machine.coreNanoseconds(atMs)), ...pressure(machine) },
    memory: cgroupMemory(machine, time, workingSet, { availableBytes: machine.memoryBytes - workingSet }),
    ...(onlyCpuAndMemory
      ? {}
      : {
          ...io(machine, time),
          network: { time, name: 'eth0', ...COUNTERS, interfaces: [{ name: 'eth0', ...COUNTERS }] },
          fs: disk(time, 37_236_572_160, 595_589),
          runtime: {
            imageFs: disk(disksReadAt, 3_497_984, 325),
            containerFs: disk(disksReadAt, 3_497_984, 325),
          },
          rlimit: { time: now, maxpid: 32_768, curproc: 194 },
        }),
    swap: { time, swapAvailableBytes: machine.swapBytes - swapUsageBytes, swapUsageBytes },
  };
}

/** Containers that wait for a restart are omitted. */
function podStats(pod: RunningPod, moment: SummaryMoment) {
  const { machine, onlyCpuAndMemory, nowMs, now } = moment;
  const times = latestHousekeeping(pod.uid, pod.startedAtMs, nowMs);
  const time = moment.stamp(times.takenAtMs);
  return {
    podRef: { name: pod.name, namespace: pod.namespace, uid: pod.uid },
    startTime: moment.stamp(pod.startedAtMs),
    containers: runningContainers(pod, nowMs).map((container) => containerStats(pod, container, moment)),
    cpu: { time, ...sampleCounter(times, (atMs) => podCoreNanoseconds(pod, atMs)), ...pressure(machine) },
    memory: cgroupMemory(machine, time, podMemoryBytes(pod, times.takenAtMs)),
    ...(onlyCpuAndMemory ? {} : { ...io(machine, time), 'ephemeral-storage': disk(now, 20_480, 13) }),
    swap: { time, swapUsageBytes: podSwapBytes(pod, times.takenAtMs) },
  };
}

function containerStats(pod: RunningPod, container: RunningContainer, moment: SummaryMoment) {
  const { machine, onlyCpuAndMemory, nowMs, now, disksReadAt } = moment;
  const sample = sampleContainer(pod, container, { nowMs, runtime: machine.runtime });
  const { usageNanoCores, usageCoreNanoSeconds, workingSetBytes } = sample;
  const time = moment.stamp(sample.takenAtMs);
  const memory = { usageBytes: workingSetBytes, workingSetBytes, rssBytes: anonymousShare(workingSetBytes) };
  const swapUsageBytes = container.swapBytes(sample.takenAtMs);
  return {
    name: container.name,
    startTime: moment.stamp(sample.startedAtMs),
    cpu: { time, usageNanoCores, usageCoreNanoSeconds },
    ...(onlyCpuAndMemory
      ? { memory: { time, availableBytes: 0, ...memory, pageFaults: 837, majorPageFaults: 0 } }
      : {
          memory: { time, ...memory },
          ...(machine.kubeletPsi ? { io: { time } } : {}),
          rootfs: disk(disksReadAt, 8192, 5),
          logs: disk(now, 0, 1),
        }),
    swap: { time, swapAvailableBytes: machine.swapBytes - swapUsageBytes, swapUsageBytes },
  };
}

function pressure({ kubeletPsi }: NodeMachine) {
  return kubeletPsi ? PSI : {};
}

function io(machine: NodeMachine, time: string) {
  return machine.kubeletPsi ? { io: { time, ...PSI } } : {};
}

/** Memory of a cgroup as cAdvisor reports it; pods have no limit, and so no available memory. */
function cgroupMemory(
  machine: NodeMachine,
  time: string,
  workingSetBytes: number,
  available?: { readonly availableBytes: number },
) {
  return {
    time,
    ...available,
    usageBytes: workingSetBytes,
    workingSetBytes,
    rssBytes: anonymousShare(workingSetBytes),
    pageFaults: 0,
    majorPageFaults: 0,
    ...pressure(machine),
  };
}

/** The part of a working set that is not file cache, in whole pages: nine tenths. */
function anonymousShare(bytes: number): number {
  return Math.floor((bytes * 0.9) / 4096) * 4096;
}

function disk(time: string, usedBytes: number, inodesUsed: number) {
  return {
    time,
    availableBytes: 71_707_721_728,
    capacityBytes: 270_553_174_016,
    usedBytes,
    inodesFree: 16_181_627,
    inodes: 16_777_216,
    inodesUsed,
  };
}

const COUNTERS = { rxBytes: 690_391_595, rxErrors: 0, txBytes: 1_126_877, txErrors: 0 };
