import { type Interner, stringInterner } from '#lib/cache/interner.ts';
import type { ContainerPoint, ExtraResources, PodPoints } from '#lib/resource-metrics/metrics-batch.ts';

/** A container as a kubelet reported it: what it did not know is `undefined`. */
export type ContainerReport = { readonly [Key in keyof ContainerPoint]: ContainerPoint[Key] | undefined } & {
  readonly name: string;
};

/** So many are compared one with another sooner than by a map. */
const FEW = 8;

/**
 * Tells the containers of a pod that count from those that don't, and whether one that counts lacks something.
 *
 * The Horizontal Pod Autoscaler divides by every container's request, so a pod is whole or nothing. A
 * container that has neither CPU nor memory and started before another that has both is an init container
 * that finished, and is no lack. Of two reports under one name the later life counts.
 */
export function completePod(
  reports: readonly ContainerReport[],
): Pick<PodPoints, 'containers' | 'incompleteBecause'> {
  const containers: ContainerPoint[] = [];
  const lacking: ContainerReport[] = [];
  for (const report of laterLives(reports)) {
    if (isComplete(report)) containers.push(report);
    else lacking.push(report);
  }
  const lack = lacking.length > 0 ? firstLack(lacking, containers) : undefined;
  return { containers, incompleteBecause: lack && describeLack(lack) };
}

function laterLives(reports: readonly ContainerReport[]): readonly ContainerReport[] {
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

function isComplete(report: ContainerReport): report is ContainerPoint {
  const { takenAtMs, cpuCoreNanoseconds, memoryBytes } = report;
  return takenAtMs !== undefined && cpuCoreNanoseconds !== undefined && memoryBytes !== undefined;
}

/** The first that lacks something and is no init container which finished before another of the pod started. */
function firstLack(
  lacking: readonly ContainerReport[],
  running: readonly ContainerPoint[],
): ContainerReport | undefined {
  let lastStartMs = Number.NEGATIVE_INFINITY;
  for (const { startedAtMs } of running) lastStartMs = Math.max(lastStartMs, startedAtMs ?? lastStartMs);
  return lacking.find(({ startedAtMs, cpuCoreNanoseconds, memoryBytes }) => {
    const isSilent = cpuCoreNanoseconds === undefined && memoryBytes === undefined;
    return !isSilent || startedAtMs === undefined || startedAtMs >= lastStartMs;
  });
}

function describeLack({ name, takenAtMs, cpuCoreNanoseconds, memoryBytes }: ContainerReport): string {
  const lacks = [];
  if (cpuCoreNanoseconds === undefined) lacks.push('CPU time');
  else if (takenAtMs === undefined) lacks.push('time of the CPU reading');
  if (memoryBytes === undefined) lacks.push('working set');
  return `container "${name}" has no ${lacks.join(' and no ')}`;
}

/** How a kubelet's response is decoded. */
export interface DecodeOptions {
  /** What is to be read beside CPU and memory. */
  readonly extras?: ExtraResources;
  /** Of namespaces and containers, which many pods share. */
  readonly names?: Interner<string>;
}

/** As many namespaces and names of containers as are held once; Kubernetes allows none that is longer. */
const SHARED_NAMES = { capacity: 10_000, longestKey: 253 };

/** For all decoders of one program. */
export function nameInterner(): Interner<string> {
  return stringInterner(SHARED_NAMES);
}

/** Which node a response comes from, when it was requested and when it had come in, on our monotonic clock. */
export interface ResponseOrigin {
  readonly nodeName: string;
  readonly requestedAtMs: number;
  readonly receivedAtMs: number;
}

/** The same with the time by our wall clock: of that time are samples on which a kubelet puts none. */
export interface TimedResponseOrigin extends ResponseOrigin {
  readonly receivedAtWallMs: number;
}

/** The end of the year 9999, the last that RFC 3339 can write. */
const LATEST_MS = 253_402_300_799_999;

/** What Kubernetes' quantities and the kubelet's own counters end before. */
const LARGEST_AMOUNT = 2 ** 63;

/** Kubelets write 0 for an amount that they do not know, and nobody can tell one that is beyond 2^63. */
export function knownAmount(value: unknown): number | undefined {
  const amount = knownAmountOrZero(value);
  return amount === 0 ? undefined : amount;
}

/** The same where a 0 is one, because kubelets leave out what they do not know. */
export function knownAmountOrZero(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value < LARGEST_AMOUNT ? value : undefined;
}

/** A time, in milliseconds since the epoch, of the years 1970 to 9999; Go's zero time, of the year 1, is none. */
export function knownTimeMs(timeMs: number): number | undefined {
  return timeMs > 0 && timeMs <= LATEST_MS ? timeMs : undefined;
}
