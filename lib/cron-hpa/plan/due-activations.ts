import type { PlannedJob } from './planned-job.ts';

/** A job that is due. */
export interface Activation {
  readonly planned: PlannedJob;
  readonly atMs: number;
}

/** Activations of a job that are not made up for. */
export interface MissedActivations {
  readonly planned: PlannedJob;
  /** How many; beyond {@link MOST_COUNTED} nobody counts. */
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly why: 'overtaken' | 'too late';
}

/** What is to be done about the jobs of an object now. */
export interface DueActivations {
  /** The one activation that holds now. */
  readonly run?: Activation | undefined;
  readonly missed: readonly MissedActivations[];
}

/** More missed activations than these of one job are not counted. */
export const MOST_COUNTED = 100;

/**
 * Finds what was due since it was last looked, up to now.
 *
 * What holds is the latest activation of all jobs; those that it has overtaken, by one of its own or of another job,
 * are missed. So after an hour of outage a target gets the size that it would have by now, and that alone.
 *
 * @param options `deadlineMs` how late an activation may be made up for
 */
export function dueActivations(
  jobs: readonly PlannedJob[],
  { nowMs, deadlineMs = Number.POSITIVE_INFINITY }: { readonly nowMs: number; readonly deadlineMs?: number },
): DueActivations {
  const latest = jobs
    .map((planned) => ({ planned, atMs: latestOf(planned, nowMs) }))
    .filter((due): due is Activation => due.atMs !== undefined);
  const holds = latest.reduce<Activation | undefined>(
    (first, due) => (isLater(due, first) ? due : first),
    undefined,
  );
  if (!holds) return { missed: [] };
  const isTooLate = nowMs - holds.atMs > deadlineMs;
  return {
    run: isTooLate ? undefined : holds,
    missed: latest.flatMap((due) =>
      missedOf(due, due !== holds ? 'overtaken' : isTooLate ? 'too late' : undefined),
    ),
  };
}

/** When a job of these is next due. */
export function nextActivation(jobs: readonly PlannedJob[], nowMs: number): Activation | undefined {
  return jobs
    .map((planned) => ({ planned, atMs: planned.schedule?.next(Math.max(planned.sinceMs, nowMs)) }))
    .filter((next): next is Activation => next.atMs !== undefined)
    .reduce<Activation | undefined>(
      (first, next) => (!first || next.atMs < first.atMs ? next : first),
      undefined,
    );
}

function latestOf({ schedule, sinceMs }: PlannedJob, nowMs: number): number | undefined {
  const latestMs = schedule?.previous(Math.floor(nowMs / 1000) * 1000 + 1000);
  return latestMs !== undefined && latestMs > sinceMs ? latestMs : undefined;
}

/** Of two at one moment the one that was meant later holds, where the clock skipped their times; else the later job. */
function isLater(due: Activation, than: Activation | undefined): boolean {
  if (!than || due.atMs !== than.atMs) return !than || due.atMs > than.atMs;
  return delayOf(due) <= delayOf(than);
}

function delayOf({ planned, atMs }: Activation): number {
  return planned.schedule?.delayMs(atMs) ?? 0;
}

function missedOf(
  { planned, atMs }: Activation,
  reason: MissedActivations['why'] | undefined,
): MissedActivations[] {
  const activations: number[] = [];
  let nextMs = planned.schedule?.next(planned.sinceMs);
  while (nextMs !== undefined && nextMs < atMs && activations.length < MOST_COUNTED) {
    activations.push(nextMs);
    nextMs = planned.schedule?.next(nextMs);
  }
  const earlier = activations.length;
  const [firstMs = atMs] = activations;
  if (reason)
    return [{ planned, count: Math.min(earlier + 1, MOST_COUNTED), firstMs, lastMs: atMs, why: reason }];
  if (earlier === 0) return [];
  const lastMs = planned.schedule?.previous(atMs) ?? firstMs;
  return [{ planned, count: earlier, firstMs, lastMs, why: 'overtaken' }];
}
