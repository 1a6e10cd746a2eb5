import { createHash } from 'node:crypto';
import { memoizeByObject } from '#lib/cache/memoize.ts';
import { runAllSteps, type Steps } from '#lib/concurrency/event-loop.ts';
import { isOneTime, type Schedules } from '#lib/schedule/parse-schedule.ts';
import { type Schedule, ScheduleError } from '#lib/schedule/schedule.ts';
import { formatTimestamp } from '#lib/time/timestamp.ts';
import type { CronHpa, CronHpaJob, CronHpaSpec, JobCondition } from './cron-hpa.ts';

/** A job with its parsed schedule and its state. */
export interface PlannedJob {
  readonly job: CronHpaJob;
  readonly specHash: string;
  /** Time zone of the schedule and of times in messages. */
  readonly timeZone: string;
  /** The condition in the status, unless the job changed after it was written. */
  readonly condition: JobCondition | undefined;
  /** Activations up to this time have been handled. */
  readonly sinceMs: number;
  /** `undefined` while the job is suspended, has completed, or is invalid. */
  readonly schedule: Schedule | undefined;
  /** The first activation after the time of planning that is not handled. */
  readonly nextMs: number | undefined;
  /** Why the job can never be due. */
  readonly problem: string | undefined;
}

export interface PlanOptions {
  readonly nowMs: number;
  /** Time zone of jobs that name none. */
  readonly timeZone: string;
  readonly schedules: Schedules;
}

/** A handled time further in the future than this was recorded by a clock that has been corrected since. */
const CLOCK_STEP_MS = 3_600_000;

/** An object that was not observed for longer than this is scheduled from now, not from its last change. */
const MAX_UNOBSERVED_MS = 3_600_000;

/** Plans each job of an object, from the object alone. */
export function planJobs(object: CronHpa, options: PlanOptions): readonly PlannedJob[] {
  return runAllSteps(planJobsInSteps(object, options));
}

/**
 * Plans one job in each step: the search for a rare date, such as 29 February in a zone that is not cached, takes a
 * millisecond, and one that five years of excluded dates prevent takes several.
 */
export function* planJobsInSteps(object: CronHpa, options: PlanOptions): Steps<readonly PlannedJob[]> {
  // Conditions have the order of their jobs, so jobs with a repeated name get one each. A job that gets the condition of
  // another counts as changed at each reconciliation and is never due.
  const conditions = Map.groupBy(object.status.jobs, ({ name }) => name);
  const names = new Set<string>();
  const jobs: PlannedJob[] = [];
  for (const job of object.spec.jobs) {
    const isRepeated = names.has(job.name);
    names.add(job.name);
    const planned = planJob(object, job, { ...options, current: conditions.get(job.name)?.shift() });
    jobs.push(isRepeated ? { ...planned, ...UNSCHEDULED, problem: REPEATED_NAME } : planned);
    yield;
  }
  return jobs;
}

const UNSCHEDULED = { schedule: undefined, nextMs: undefined };

function planJob(
  { spec, specChangedAtMs }: CronHpa,
  job: CronHpaJob,
  {
    nowMs,
    timeZone: defaultZone,
    schedules,
    current,
  }: PlanOptions & { readonly current: JobCondition | undefined },
): PlannedJob {
  const timeZone = job.timeZone ?? defaultZone;
  const specHash = hashOf(job, spec, timeZone);
  const isSame = current?.specHash === specHash;
  const { condition, sinceMs } = isSame
    ? findHandled(current, nowMs)
    : { condition: undefined, sinceMs: submittedAt(specChangedAtMs, nowMs) };
  const common = { job, specHash, timeZone, condition, sinceMs };
  try {
    const excludeDates = [spec.excludeDates, job.excludeDates];
    const schedule = schedules.read(job.schedule, { timeZone, anchorMs: sinceMs, excludeDates });
    const isOver = runsOnce(job) && condition?.lastActivationTime !== undefined;
    if (job.suspend || isOver) return { ...common, ...UNSCHEDULED, problem: undefined };
    const isDue = schedule.next(sinceMs) !== undefined;
    return isDue
      ? { ...common, schedule, nextMs: schedule.next(Math.max(sinceMs, nowMs)), problem: undefined }
      : { ...common, ...UNSCHEDULED, problem: NEVER_DUE };
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    return { ...common, ...UNSCHEDULED, problem: error.message };
  }
}

/** Whether a job is over after its first activation. */
export function runsOnce({ runOnce, schedule }: CronHpaJob): boolean {
  return runOnce || isOneTime(schedule);
}

/** The problem of a job whose schedule is valid but never matches. */
export const NEVER_DUE = 'not due within the next five years';
/** The problem of a job with a repeated name. */
export const REPEATED_NAME = 'another job has the same name';

/**
 * The time from which a newly observed job is scheduled: when it was created or changed, to make up for an outage. Beyond
 * {@link MAX_UNOBSERVED_MS} the object was copied from elsewhere, and the job is scheduled from now.
 */
function submittedAt(specChangedAtMs: number | undefined, nowMs: number): number {
  if (specChangedAtMs === undefined || specChangedAtMs > nowMs) return nowMs;
  return specChangedAtMs < nowMs - MAX_UNOBSERVED_MS ? nowMs : specChangedAtMs;
}

/**
 * The time up to which activations have been handled. A condition without a time, or with one in the future, gets the
 * current time once: taking it at each reconciliation would make no activation ever due.
 */
function findHandled(condition: JobCondition, nowMs: number): Pick<PlannedJob, 'condition' | 'sinceMs'> {
  const { lastActivationTime, submittedTime } = condition;
  const untilMs = Date.parse(lastActivationTime ?? submittedTime);
  if (untilMs <= nowMs + CLOCK_STEP_MS) return { condition, sinceMs: untilMs };
  const now = formatTimestamp(nowMs);
  const corrected = lastActivationTime === undefined ? { submittedTime: now } : { lastActivationTime: now };
  return { condition: { ...condition, ...corrected }, sinceMs: nowMs };
}

/** A hash over hundreds of excluded dates takes up to a millisecond; over few, some microseconds. */
const MIN_CACHED_DATES = 20;

interface JobHash {
  readonly spec: CronHpaSpec;
  readonly timeZone: string;
  readonly hash: string;
}

const hashes = new WeakMap<CronHpaJob, JobHash>();
const encodeDates = memoizeByObject((dates: readonly string[]) => JSON.stringify(dates));

function hashOf(job: CronHpaJob, spec: CronHpaSpec, timeZone: string): string {
  if (job.excludeDates.length < MIN_CACHED_DATES) return computeHash(job, spec, timeZone);
  const cached = hashes.get(job);
  if (cached?.spec === spec && cached.timeZone === timeZone) return cached.hash;
  const hash = computeHash(job, spec, timeZone);
  hashes.set(job, { spec, timeZone, hash });
  return hash;
}

/** Statuses have the hash: another one would count every job as changed. */
function computeHash(job: CronHpaJob, spec: CronHpaSpec, timeZone: string): string {
  const dates = spec.excludeDates.length === 0 ? '[]' : encodeDates(spec.excludeDates);
  const parts = [JSON.stringify(job), dates, JSON.stringify(spec.scaleTargetRef), JSON.stringify(timeZone)];
  return createHash('sha256').update(`[${parts}]`).digest().toString('base64url', 0, 12);
}

/** A job at a time it is due. */
export interface Activation {
  readonly planned: PlannedJob;
  readonly atMs: number;
}

/** Activations of a job that are not run. */
export interface MissedActivations {
  readonly planned: PlannedJob;
  /** At most {@link MAX_COUNTED}. */
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly why: 'overtaken' | 'too late';
}

/** The activations of an object that are due. */
export interface DueActivations {
  /** The activation to run. */
  readonly run?: Activation | undefined;
  readonly missed: readonly MissedActivations[];
}

/** Missed activations of one job beyond this are not counted. */
const MAX_COUNTED = 100;

/**
 * Finds the activations due since the last handled ones, up to now.
 *
 * Only the latest activation of all jobs runs; earlier ones of any job are missed. After an outage the target gets the
 * size it would have by now, in one step.
 *
 * @param options `deadlineMs`: how late an activation may run
 */
export function dueActivations(jobs: readonly PlannedJob[], options: DueOptions): DueActivations {
  return runAllSteps(dueActivationsInSteps(jobs, options));
}

interface DueOptions {
  readonly nowMs: number;
  readonly deadlineMs?: number;
}

/** {@link dueActivations} with one search in a schedule in each step. */
export function* dueActivationsInSteps(
  jobs: readonly PlannedJob[],
  { nowMs, deadlineMs = Number.POSITIVE_INFINITY }: DueOptions,
): Steps<DueActivations> {
  const latest: Activation[] = [];
  for (const planned of jobs) {
    const atMs = latestOf(planned, nowMs);
    if (atMs !== undefined) latest.push({ planned, atMs });
    yield;
  }
  const last = latest.reduce<Activation | undefined>(
    (first, due) => (isLater(due, first) ? due : first),
    undefined,
  );
  if (!last) return { missed: [] };
  const isTooLate = nowMs - last.atMs > deadlineMs;
  const missed: MissedActivations[] = [];
  for (const due of latest)
    missed.push(...(yield* missedOf(due, due !== last ? 'overtaken' : isTooLate ? 'too late' : undefined)));
  return { run: isTooLate ? undefined : last, missed };
}

/** The first activation of any job after the time of planning. */
export function nextActivation(jobs: readonly PlannedJob[]): Activation | undefined {
  return jobs
    .map((planned) => ({ planned, atMs: planned.nextMs }))
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

/** Of two activations at one time the one with the later nominal time wins, where the clock skipped it; else the later job. */
function isLater(due: Activation, than: Activation | undefined): boolean {
  if (!than || due.atMs !== than.atMs) return !than || due.atMs > than.atMs;
  return delayOf(due) <= delayOf(than);
}

function delayOf({ planned, atMs }: Activation): number {
  return planned.schedule?.delayMs(atMs) ?? 0;
}

function* missedOf(
  { planned, atMs }: Activation,
  reason: MissedActivations['why'] | undefined,
): Steps<readonly MissedActivations[]> {
  const activations: number[] = [];
  let nextMs = planned.schedule?.next(planned.sinceMs);
  while (nextMs !== undefined && nextMs < atMs && activations.length < MAX_COUNTED) {
    activations.push(nextMs);
    nextMs = planned.schedule?.next(nextMs);
    yield;
  }
  const earlier = activations.length;
  const [firstMs = atMs] = activations;
  if (reason)
    return [{ planned, count: Math.min(earlier + 1, MAX_COUNTED), firstMs, lastMs: atMs, why: reason }];
  if (earlier === 0) return [];
  const lastMs = planned.schedule?.previous(atMs) ?? firstMs;
  return [{ planned, count: earlier, firstMs, lastMs, why: 'overtaken' }];
}
