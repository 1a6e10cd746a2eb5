import { createHash } from 'node:crypto';
import { type Schedule, ScheduleError } from '#lib/schedule/schedule.ts';
import type { Schedules } from '#lib/schedule/schedules.ts';
import { formatTimestamp } from '#lib/time/timestamp.ts';
import type { CronHpa, CronHpaJob, JobCondition } from './cron-hpa.ts';

/** A job with what follows from it. */
export interface PlannedJob {
  readonly job: CronHpaJob;
  readonly specHash: string;
  /** Where its times are meant and told. */
  readonly timeZone: string;
  /** What is known of it, unless it was changed since. */
  readonly condition: JobCondition | undefined;
  /** Activations up to this moment were dealt with. */
  readonly sinceMs: number;
  /** When it is due; `undefined` while it rests, has ended, or cannot be read. */
  readonly schedule: Schedule | undefined;
  /** Why it can never be due. */
  readonly problem: string | undefined;
}

/** What jobs are planned with. */
export interface PlanOptions {
  readonly nowMs: number;
  /** Where the times of jobs are meant that do not tell. */
  readonly timeZone: string;
  readonly schedules: Schedules;
}

/** What was dealt with later than this from now on, was so by a clock that has been put right since. */
const CLOCK_STEP_MS = 3_600_000;

/** For as long nobody may have looked at an object that counts from when it was made or changed. */
const LONGEST_UNSEEN_MS = 3_600_000;

/** Works out what each job of an object is, from the object alone. */
export function planJobs(object: CronHpa, options: PlanOptions): readonly PlannedJob[] {
  // Conditions stand in the order of their jobs: where a name is repeated, each job has its own. One that takes another's seems
  // to be changed at every look, and is never due.
  const known = Map.groupBy(object.status.jobs, ({ name }) => name);
  const names = new Set<string>();
  return object.spec.jobs.map((job) => {
    const isRepeated = names.has(job.name);
    names.add(job.name);
    const planned = planJob(object, job, { ...options, known: known.get(job.name)?.shift() });
    return isRepeated ? { ...planned, schedule: undefined, problem: REPEATED_NAME } : planned;
  });
}

function planJob(
  { spec, specChangedAtMs }: CronHpa,
  job: CronHpaJob,
  {
    nowMs,
    timeZone: defaultZone,
    schedules,
    known,
  }: PlanOptions & { readonly known: JobCondition | undefined },
): PlannedJob {
  const timeZone = job.timeZone ?? defaultZone;
  const specHash = hashOf([job, spec.excludeDates, spec.scaleTargetRef, timeZone]);
  const isSame = known?.specHash === specHash;
  const { condition, sinceMs } = isSame
    ? dealtWith(known, nowMs)
    : { condition: undefined, sinceMs: submittedAt(specChangedAtMs, nowMs) };
  const common = { job, specHash, timeZone, condition, sinceMs };
  try {
    const excludeDates = [...spec.excludeDates, ...job.excludeDates];
    const schedule = schedules.read(job.schedule, { timeZone, anchorMs: sinceMs, excludeDates });
    const isOver = job.runOnce && condition?.lastActivationTime !== undefined;
    if (job.suspend || isOver) return { ...common, schedule: undefined, problem: undefined };
    const isDue = schedule.next(sinceMs) !== undefined;
    return isDue
      ? { ...common, schedule, problem: undefined }
      : { ...common, schedule: undefined, problem: NEVER_DUE };
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    return { ...common, schedule: undefined, problem: error.message };
  }
}

/** Of a job whose schedule can be read, and comes to nothing. */
export const NEVER_DUE = 'it is not due within the next five years';
/** Of a job that cannot be told from another. */
export const REPEATED_NAME = 'another job has its name';

/**
 * From when a job counts that is first seen as it is: from when it was made or changed, be it that nobody has looked for a while. What
 * is older than any outage comes from elsewhere, and counts from now on.
 */
function submittedAt(specChangedAtMs: number | undefined, nowMs: number): number {
  if (specChangedAtMs === undefined || specChangedAtMs > nowMs) return nowMs;
  return specChangedAtMs < nowMs - LONGEST_UNSEEN_MS ? nowMs : specChangedAtMs;
}

/**
 * Up to when activations were dealt with. A condition that tells no time, or one of a clock that has been put right since,
 * tells from now on that it was up to now: if each look took its own time for that, nothing would ever be due.
 */
function dealtWith(condition: JobCondition, nowMs: number): Pick<PlannedJob, 'condition' | 'sinceMs'> {
  const { lastActivationTime, submittedTime } = condition;
  const untilMs = Date.parse(lastActivationTime ?? submittedTime);
  if (untilMs <= nowMs + CLOCK_STEP_MS) return { condition, sinceMs: untilMs };
  const now = formatTimestamp(nowMs);
  const corrected = lastActivationTime === undefined ? { submittedTime: now } : { lastActivationTime: now };
  return { condition: { ...condition, ...corrected }, sinceMs: nowMs };
}

function hashOf(values: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('base64url').slice(0, 16);
}

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
const MOST_COUNTED = 100;

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
