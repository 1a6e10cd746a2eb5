import { JsonTemplate } from './json-template.ts';

/** The options on which the fields of a summary depend. */
interface SummaryFields {
  /** Omits disks and network, and has memory in more detail. */
  readonly onlyCpuAndMemory: boolean;
  /** Includes pressure (PSI) and IO. */
  readonly kubeletPsi: boolean;
}

/** Templates of the parts of a summary, with the fields and order of a kubelet 1.34. */
export interface SummaryTemplates {
  readonly summary: JsonTemplate<'node' | 'pods'>;
  readonly node: JsonTemplate<NodeHole>;
  readonly pod: JsonTemplate<PodHole>;
  readonly container: JsonTemplate<ContainerHole>;
}

type UsageHole =
  | 'startTime'
  | 'time'
  | 'now'
  | 'usageNanoCores'
  | 'usageCoreNanoSeconds'
  | 'workingSetBytes'
  | 'rssBytes'
  | 'swapUsageBytes';
type AllPodsHole =
  | 'podsNanoCores'
  | 'podsCoreNanoSeconds'
  | 'podsAvailableBytes'
  | 'podsWorkingSetBytes'
  | 'podsRssBytes';
type NodeHole =
  | UsageHole
  | AllPodsHole
  | 'nodeName'
  | 'availableBytes'
  | 'swapAvailableBytes'
  | 'disksReadAt';
type PodHole = UsageHole | 'podRef' | 'containers';
type ContainerHole = UsageHole | 'name' | 'swapAvailableBytes' | 'disksReadAt';

/** Number of objects and lists around each part. */
const DEPTHS = { summary: 0, node: 1, pod: 2, container: 4 };
/** Number of objects and lists around an item of the list. */
export const POD_DEPTH: number = DEPTHS.pod;
/** See {@link POD_DEPTH}. */
export const CONTAINER_DEPTH: number = DEPTHS.container;

/** Builds the templates of all summaries with the same fields. */
export function summaryTemplates(fields: SummaryFields): SummaryTemplates {
  return {
    summary: new JsonTemplate({ node: '<node>', pods: '<pods>' }, DEPTHS.summary),
    node: new JsonTemplate(nodeShape(fields), DEPTHS.node),
    pod: new JsonTemplate(podShape(fields), DEPTHS.pod),
    container: new JsonTemplate(containerShape(fields), DEPTHS.container),
  };
}

const NO_PRESSURE = { total: 0, avg10: 0, avg60: 0, avg300: 0 };
const PSI = { psi: { full: NO_PRESSURE, some: NO_PRESSURE } };

const CPU = {
  time: '<time>',
  usageNanoCores: '<usageNanoCores>',
  usageCoreNanoSeconds: '<usageCoreNanoSeconds>',
};
const WORKING_SET = { usageBytes: '<workingSetBytes>', workingSetBytes: '<workingSetBytes>' };

function nodeShape(fields: SummaryFields) {
  return {
    nodeName: '<nodeName>',
    systemContainers: [
      {
        name: 'pods',
        startTime: '<startTime>',
        cpu: {
          time: '<time>',
          usageNanoCores: '<podsNanoCores>',
          usageCoreNanoSeconds: '<podsCoreNanoSeconds>',
          ...pressure(fields),
        },
        memory: {
          time: '<time>',
          availableBytes: '<podsAvailableBytes>',
          usageBytes: '<podsWorkingSetBytes>',
          workingSetBytes: '<podsWorkingSetBytes>',
          rssBytes: '<podsRssBytes>',
          ...faults(fields),
        },
        ...(fields.onlyCpuAndMemory ? {} : io(fields)),
        swap: { time: '<time>', swapUsageBytes: '<swapUsageBytes>' },
      },
    ],
    startTime: '<startTime>',
    cpu: { ...CPU, ...pressure(fields) },
    memory: { time: '<time>', availableBytes: '<availableBytes>', ...cgroupMemory(fields) },
    ...(fields.onlyCpuAndMemory
      ? {}
      : {
          ...io(fields),
          network: NETWORK,
          fs: disk('<time>', 37_236_572_160, 595_589),
          runtime: {
            imageFs: disk('<disksReadAt>', 3_497_984, 325),
            containerFs: disk('<disksReadAt>', 3_497_984, 325),
          },
          rlimit: { time: '<now>', maxpid: 32_768, curproc: 194 },
        }),
    swap: {
      time: '<time>',
      swapAvailableBytes: '<swapAvailableBytes>',
      swapUsageBytes: '<swapUsageBytes>',
    },
  };
}

function podShape(fields: SummaryFields) {
  return {
    podRef: '<podRef>',
    startTime: '<startTime>',
    containers: '<containers>',
    cpu: { ...CPU, ...pressure(fields) },
    memory: { time: '<time>', ...cgroupMemory(fields) },
    ...(fields.onlyCpuAndMemory ? {} : { ...io(fields), 'ephemeral-storage': disk('<now>', 20_480, 13) }),
    swap: { time: '<time>', swapUsageBytes: '<swapUsageBytes>' },
  };
}

function containerShape({ onlyCpuAndMemory, kubeletPsi }: SummaryFields) {
  const memory = { ...WORKING_SET, rssBytes: '<rssBytes>' };
  return {
    name: '<name>',
    startTime: '<startTime>',
    cpu: CPU,
    ...(onlyCpuAndMemory
      ? { memory: { time: '<time>', availableBytes: 0, ...memory, pageFaults: 837, majorPageFaults: 0 } }
      : {
          memory: { time: '<time>', ...memory },
          ...(kubeletPsi ? { io: { time: '<time>' } } : {}),
          rootfs: disk('<disksReadAt>', 8192, 5),
          logs: disk('<now>', 0, 1),
        }),
    swap: {
      time: '<time>',
      swapAvailableBytes: '<swapAvailableBytes>',
      swapUsageBytes: '<swapUsageBytes>',
    },
  };
}

function pressure({ kubeletPsi }: SummaryFields) {
  return kubeletPsi ? PSI : {};
}

function io({ kubeletPsi }: SummaryFields) {
  return kubeletPsi ? { io: { time: '<time>', ...PSI } } : {};
}

/** Memory of a cgroup as cAdvisor reports it; pods have no limit, and so no available memory. */
function cgroupMemory(fields: SummaryFields) {
  return { ...WORKING_SET, rssBytes: '<rssBytes>', ...faults(fields) };
}

function faults(fields: SummaryFields) {
  return { pageFaults: 0, majorPageFaults: 0, ...pressure(fields) };
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
const NETWORK = {
  time: '<time>',
  name: 'eth0',
  ...COUNTERS,
  interfaces: [{ name: 'eth0', ...COUNTERS }],
};
