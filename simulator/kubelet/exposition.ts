import {
  type NodeMachine,
  podCoreNanoseconds,
  podMemoryBytes,
  podSwapBytes,
  runningContainers,
} from './node-machine.ts';
import { latestHousekeeping, latestNodeHousekeeping, sampleContainer } from './usage-sample.ts';

/**
 * A kubelet's response to `/metrics/resource` in the Prometheus text format, with the families, order, label order and
 * millisecond timestamps of a kubelet 1.34.
 */
export function formatExposition(machine: NodeMachine): string {
  const nowMs = machine.clock.nowMs();
  const stamp = (momentMs: number) => Math.floor(machine.clock.stampMs(momentMs));
  const containers = containerRows(machine, nowMs);
  const pods = podRows(machine, nowMs);
  const { takenAtMs: nodeAtMs } = latestNodeHousekeeping(machine.bootedAtMs, nowMs);
  const node = (value: number): Row[] => [{ labels: '', value, stampMs: stamp(nodeAtMs) }];
  return [
    family(
      'container_cpu_usage_seconds_total',
      'counter',
      '[STABLE] Cumulative cpu time consumed by the container in core-seconds',
      containers.map(({ labels, sample }) => ({
        labels,
        value: sample.usageCoreNanoSeconds / 1e9,
        stampMs: stamp(sample.takenAtMs),
      })),
    ),
    family(
      'container_memory_working_set_bytes',
      'gauge',
      '[STABLE] Current working set of the container in bytes',
      containers.map(({ labels, sample }) => ({
        labels,
        value: sample.workingSetBytes,
        stampMs: stamp(sample.takenAtMs),
      })),
    ),
    family(
      'container_start_time_seconds',
      'gauge',
      '[STABLE] Start time of the container since unix epoch in seconds',
      containers.map(({ labels, sample }) => ({
        labels,
        value: machine.clock.stampMs(sample.startedAtMs) / 1000,
      })),
    ),
    family(
      'container_swap_limit_bytes',
      'gauge',
      '[ALPHA] Current amount of the container swap limit in bytes. Reported only on non-windows systems',
      containers.map(({ labels }) => ({ labels, value: machine.swapBytes, stampMs: stamp(nowMs) })),
    ),
    family(
      'container_swap_usage_bytes',
      'gauge',
      '[ALPHA] Current amount of the container swap usage in bytes. Reported only on non-windows systems',
      containers.map(({ labels, swapBytes }) => ({ labels, value: swapBytes, stampMs: stamp(nowMs) })),
    ),
    family(
      'node_cpu_usage_seconds_total',
      'counter',
      '[STABLE] Cumulative cpu time consumed by the node in core-seconds',
      node(machine.coreNanoseconds(nodeAtMs) / 1e9),
    ),
    family(
      'node_memory_working_set_bytes',
      'gauge',
      '[STABLE] Current working set of the node in bytes',
      node(machine.workingSetBytes(nodeAtMs)),
    ),
    family(
      'node_swap_usage_bytes',
      'gauge',
      '[ALPHA] Current swap usage of the node in bytes. Reported only on non-windows systems',
      node(machine.swapUsageBytes(nodeAtMs)),
    ),
    family(
      'pod_cpu_usage_seconds_total',
      'counter',
      '[STABLE] Cumulative cpu time consumed by the pod in core-seconds',
      pods.map(({ labels, atMs, coreNanoseconds }) => ({
        labels,
        value: coreNanoseconds / 1e9,
        stampMs: stamp(atMs),
      })),
    ),
    family(
      'pod_memory_working_set_bytes',
      'gauge',
      '[STABLE] Current working set of the pod in bytes',
      pods.map(({ labels, atMs, memoryBytes }) => ({ labels, value: memoryBytes, stampMs: stamp(atMs) })),
    ),
    family(
      'pod_swap_usage_bytes',
      'gauge',
      '[ALPHA] Current amount of the pod swap usage in bytes. Reported only on non-windows systems',
      pods.map(({ labels, atMs, swapBytes }) => ({ labels, value: swapBytes, stampMs: stamp(atMs) })),
    ),
    family(
      'resource_scrape_error',
      'gauge',
      '[STABLE] 1 if there was an error while getting container metrics, 0 otherwise',
      [{ labels: '', value: 0 }],
    ),
  ].join('');
}

interface Row {
  readonly labels: string;
  readonly value: number;
  /** Absent for families without timestamps. */
  readonly stampMs?: number;
}

/** A family without rows is omitted, as by every Prometheus client. */
function family(name: string, type: string, help: string, rows: readonly Row[]): string {
  if (rows.length === 0) return '';
  const lines = rows.map(({ labels, value, stampMs }) => {
    const stamp = stampMs === undefined ? '' : ` ${stampMs}`;
    return `${name}${labels} ${formatGoFloat(value)}${stamp}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

/** Sorted by the values of the labels: container, namespace, pod. */
function containerRows(machine: NodeMachine, nowMs: number) {
  return [...machine.pods()]
    .flatMap((pod) =>
      runningContainers(pod, nowMs).map((container) => ({
        labels: `{container="${container.name}",namespace="${pod.namespace}",pod="${pod.name}"}`,
        sample: sampleContainer(pod, container, { nowMs, runtime: machine.runtime }),
        swapBytes: container.swapBytes(nowMs),
      })),
    )
    .sort((left, right) => compare(left.labels, right.labels));
}

function podRows(machine: NodeMachine, nowMs: number) {
  return [...machine.pods()]
    .map((pod) => {
      const { takenAtMs: atMs } = latestHousekeeping(pod.uid, pod.startedAtMs, nowMs);
      return {
        labels: `{namespace="${pod.namespace}",pod="${pod.name}"}`,
        atMs,
        coreNanoseconds: podCoreNanoseconds(pod, atMs),
        memoryBytes: podMemoryBytes(pod, atMs),
        swapBytes: podSwapBytes(pod, atMs),
      };
    })
    .sort((left, right) => compare(left.labels, right.labels));
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/**
 * Writes a finite number as Go's `strconv.FormatFloat(value, 'g', -1, 64)` does, and so as kubelets write the
 * exposition: `495616`, `2.5440256e+07`, `0.012046741`. The exponent appears from a million on and below 0.0001.
 */
export function formatGoFloat(value: number): string {
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return String(value);
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
