import type { ContainerPoint, PodPoints } from '#lib/resource-metrics/metrics-batch.ts';

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
