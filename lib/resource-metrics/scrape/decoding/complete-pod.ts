import { createStringInterner, type Interner } from '#lib/cache/interner.ts';
import type {
  ExtraResources,
  MetricsPoint,
  PodPoints,
  ResponseTimes,
} from '#lib/resource-metrics/metrics-batch.ts';

/** A container as reported by a kubelet; missing values are `undefined`. */
export type ContainerReport = { readonly [Key in keyof MetricsPoint]: MetricsPoint[Key] | undefined } & {
  readonly name: string;
};

/** Up to this number, comparing pairs is faster than a map. */
const FEW = 8;

/**
 * Selects the containers that count, and checks whether one of them lacks a value.
 *
 * The HPA divides by the requests of all containers, so a pod is served completely or not at all. A container without
 * CPU and memory that started before a running one is a terminated init container and does not count. Of two reports
 * with one name, the later start wins.
 */
export function completePod(
  reports: readonly ContainerReport[],
): Pick<PodPoints, 'containers' | 'incompleteBecause'> {
  const containers: MetricsPoint[] = [];
  const lacking: ContainerReport[] = [];
  for (const report of latestByName(reports)) {
    if (isComplete(report)) containers.push(report);
    else lacking.push(report);
  }
  const lack = lacking.length > 0 ? firstLack(lacking, containers) : undefined;
  return { containers, incompleteBecause: lack && describeLack(lack) };
}

function latestByName(reports: readonly ContainerReport[]): readonly ContainerReport[] {
  if (reports.length <= FEW && haveDistinctNames(reports)) return reports;
  const byName = new Map<string, ContainerReport>();
  for (const report of reports) {
    const other = byName.get(report.name);
    if (!other || (report.startedAtMs ?? 0) >= (other.startedAtMs ?? 0)) byName.set(report.name, report);
  }
  return byName.size === reports.length ? reports : [...byName.values()];
}

function haveDistinctNames(reports: readonly ContainerReport[]): boolean {
  for (let index = 1; index < reports.length; index++)
    for (let before = 0; before < index; before++)
      if (reports[index]?.name === reports[before]?.name) return false;
  return true;
}

function isComplete(report: ContainerReport): report is MetricsPoint {
  const { takenAtMs, cpuCoreNanoseconds, memoryBytes } = report;
  return takenAtMs !== undefined && cpuCoreNanoseconds !== undefined && memoryBytes !== undefined;
}

/** Finds the first container that lacks a value and is not a terminated init container. */
function firstLack(
  lacking: readonly ContainerReport[],
  running: readonly MetricsPoint[],
): ContainerReport | undefined {
  let lastStartMs = Number.NEGATIVE_INFINITY;
  for (const { startedAtMs } of running) lastStartMs = Math.max(lastStartMs, startedAtMs ?? lastStartMs);
  return lacking.find(({ startedAtMs, cpuCoreNanoseconds, memoryBytes }) => {
    const isEmpty = cpuCoreNanoseconds === undefined && memoryBytes === undefined;
    return !isEmpty || startedAtMs === undefined || startedAtMs >= lastStartMs;
  });
}

function describeLack({ name, takenAtMs, cpuCoreNanoseconds, memoryBytes }: ContainerReport): string {
  const missing = [];
  if (cpuCoreNanoseconds === undefined) missing.push('CPU time');
  else if (takenAtMs === undefined) missing.push('time of the CPU reading');
  if (memoryBytes === undefined) missing.push('working set');
  return `container "${name}" has no ${missing.join(' and no ')}`;
}

export interface DecodeOptions {
  /** Resources to read in addition to CPU and memory. */
  readonly extras?: ExtraResources;
  /** Shares the names of namespaces and containers. */
  readonly names?: Interner<string>;
}

/** Number of shared names, and Kubernetes' maximum length of names. */
const SHARED_NAMES = { capacity: 10_000, maxKeyLength: 253 };

/** Shared by all decoders of a program. */
export function nameInterner(): Interner<string> {
  return createStringInterner(SHARED_NAMES);
}

/** The node and times of a response. */
export interface ResponseOrigin extends ResponseTimes {
  readonly nodeName: string;
}

/** Adds the wall clock time of receipt, which is the time of samples without timestamps. */
export interface TimedResponseOrigin extends ResponseOrigin {
  readonly receivedAtWallMs: number;
}

/** End of the year 9999, the limit of RFC 3339. */
const MAX_TIME_MS = 253_402_300_799_999;

/** Limit of Kubernetes' quantities and of the kubelet's counters. */
const MAX_AMOUNT = 2 ** 63;

/** Kubelets report 0 for missing amounts. @returns `undefined` for 0, and for values out of range */
export function readAmount(value: unknown): number | undefined {
  const amount = readAmountOrZero(value);
  return amount === 0 ? undefined : amount;
}

/** Like {@link readAmount}, for amounts that kubelets omit when missing: 0 is valid. */
export function readAmountOrZero(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value < MAX_AMOUNT ? value : undefined;
}

/** @returns milliseconds since the epoch, between 1970 and 9999; `undefined` for other times, as Go's zero time */
export function readTimeMs(timeMs: number): number | undefined {
  return timeMs > 0 && timeMs <= MAX_TIME_MS ? timeMs : undefined;
}
