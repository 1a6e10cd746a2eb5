import type { SummaryOptions } from '#simulator/kubelet/summary.ts';
import { latestHousekeeping, sampleContainer, sampleCounter } from '#simulator/kubelet/usage-sample.ts';
import {
  type NodeMachine,
  podCoreNanoseconds,
  podMemoryBytes,
  podSwapBytes,
  type RunningPod,
  runningContainers,
} from '#simulator/machine/node-machine.ts';
import type { RunningContainer } from '#simulator/machine/running-container.ts';
import { formatTimestamp } from '#simulator/objects/kubernetes-object.ts';

/** A kubelet's response to `/stats/summary`, built as objects and written by `JSON.stringify`. */
export function formatPlainSummary(machine: NodeMachine, options: SummaryOptions): string {
  const nowMs = machine.clock.nowMs();
  const pods = [...machine.pods()].map((pod) => podStats(machine, pod, nowMs, options));
  return JSON.stringify({ node: nodeStats(machine, nowMs, options), pods }, null, 1);
}

const NO_PRESSURE = { total: 0, avg10: 0, avg60: 0, avg300: 0 };
const PSI = { psi: { full: NO_PRESSURE, some: NO_PRESSURE } };
const DISK_BYTES = 270_553_174_016;
const INODES = 16_777_216;

function nodeStats(machine: NodeMachine, nowMs: number, { onlyCpuAndMemory }: SummaryOptions) {
  const at = (momentMs: number) => formatTimestamp(machine.clock.stampMs(momentMs));
  const look = latestHousekeeping(machine.nodeName, machine.bootedAtMs, nowMs);
  const { takenAtMs } = look;
  const time = at(takenAtMs);
  const podsMemory = machine.podsMemoryBytes(takenAtMs);
  const workingSet = machine.workingSetBytes(takenAtMs);
  const swapUsageBytes = machine.swapUsageBytes(takenAtMs);
  return {
    nodeName: machine.nodeName,
    systemContainers: [
      {
        name: 'pods',
        startTime: at(machine.bootedAtMs),
        cpu: {
          time,
          usageNanoCores: sampleCounter(look, (atMs) => machine.podsCoreNanoseconds(atMs)).nanocores,
          usageCoreNanoSeconds: machine.podsCoreNanoseconds(takenAtMs),
          ...pressure(machine),
        },
        memory: cgroupMemory(machine, time, podsMemory, { availableBytes: machine.memoryBytes - podsMemory }),
        ...(onlyCpuAndMemory ? {} : io(machine, time)),
        swap: { time, swapUsageBytes },
      },
    ],
    startTime: at(machine.bootedAtMs),
    cpu: {
      time,
      usageNanoCores: sampleCounter(look, (atMs) => machine.coreNanoseconds(atMs)).nanocores,
      usageCoreNanoSeconds: machine.coreNanoseconds(takenAtMs),
      ...pressure(machine),
    },
    memory: cgroupMemory(machine, time, workingSet, { availableBytes: machine.memoryBytes - workingSet }),
    ...(onlyCpuAndMemory
      ? {}
      : {
          ...io(machine, time),
          network: network(time),
          fs: disk(time, 37_236_572_160, 595_589),
          runtime: {
            imageFs: disk(at(nowMs - 3000), 3_497_984, 325),
            containerFs: disk(at(nowMs - 3000), 3_497_984, 325),
          },
          rlimit: { time: at(nowMs), maxpid: 32_768, curproc: 194 },
        }),
    swap: { time, swapAvailableBytes: machine.swapBytes - swapUsageBytes, swapUsageBytes },
  };
}

function podStats(machine: NodeMachine, pod: RunningPod, nowMs: number, options: SummaryOptions) {
  const at = (momentMs: number) => formatTimestamp(machine.clock.stampMs(momentMs));
  const look = latestHousekeeping(pod.uid, pod.startedAtMs, nowMs);
  const time = at(look.takenAtMs);
  return {
    podRef: { name: pod.name, namespace: pod.namespace, uid: pod.uid },
    startTime: at(pod.startedAtMs),
    containers: runningContainers(pod, nowMs).map((container) =>
      containerStats(machine, pod, container, nowMs, options),
    ),
    cpu: {
      time,
      usageNanoCores: sampleCounter(look, (atMs) => podCoreNanoseconds(pod, atMs)).nanocores,
      usageCoreNanoSeconds: podCoreNanoseconds(pod, look.takenAtMs),
      ...pressure(machine),
    },
    memory: cgroupMemory(machine, time, podMemoryBytes(pod, look.takenAtMs)),
    ...(options.onlyCpuAndMemory
      ? {}
      : { ...io(machine, time), 'ephemeral-storage': disk(at(nowMs), 20_480, 13) }),
    swap: { time, swapUsageBytes: podSwapBytes(pod, look.takenAtMs) },
  };
}

function containerStats(
  machine: NodeMachine,
  pod: RunningPod,
  container: RunningContainer,
  nowMs: number,
  { onlyCpuAndMemory }: SummaryOptions,
) {
  const sample = sampleContainer(pod, container, { nowMs, runtime: machine.runtime, startsInterval: true });
  const at = (momentMs: number) => formatTimestamp(machine.clock.stampMs(momentMs));
  const time = at(sample.takenAtMs);
  const usage = { usageBytes: sample.workingSetBytes, workingSetBytes: sample.workingSetBytes };
  const rssBytes = anonymousShare(sample.workingSetBytes);
  const swapUsageBytes = container.swapBytes(sample.takenAtMs);
  return {
    name: container.name,
    startTime: at(sample.startedAtMs),
    cpu: {
      time,
      usageNanoCores: sample.usageNanoCores,
      usageCoreNanoSeconds: sample.usageCoreNanoSeconds,
    },
    ...(onlyCpuAndMemory
      ? { memory: { time, availableBytes: 0, ...usage, rssBytes, pageFaults: 837, majorPageFaults: 0 } }
      : {
          memory: { time, ...usage, rssBytes },
          ...(machine.kubeletPsi ? { io: { time } } : {}),
          rootfs: disk(at(nowMs - 3000), 8192, 5),
          logs: disk(at(nowMs), 0, 1),
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

/** Memory of a cgroup in cAdvisor's terms; a pod has no limit, and so no available memory. */
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

/** Anonymous share of a working set, in whole pages: approximately nine tenths. */
function anonymousShare(bytes: number): number {
  return Math.floor((bytes * 0.9) / 4096) * 4096;
}

function disk(time: string, usedBytes: number, inodesUsed: number) {
  return {
    time,
    availableBytes: 71_707_721_728,
    capacityBytes: DISK_BYTES,
    usedBytes,
    inodesFree: 16_181_627,
    inodes: INODES,
    inodesUsed,
  };
}

function network(time: string) {
  const counters = { rxBytes: 690_391_595, rxErrors: 0, txBytes: 1_126_877, txErrors: 0 };
  return { time, name: 'eth0', ...counters, interfaces: [{ name: 'eth0', ...counters }] };
}
