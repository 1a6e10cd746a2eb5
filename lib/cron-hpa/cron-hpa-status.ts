import { setCondition } from '#lib/control/conditions.ts';
import type { EventText } from '#lib/control/event-recorder.ts';
import { TimeZone } from '#lib/schedule/time-zone.ts';
import { printable } from '#lib/telemetry/printable.ts';
import { formatTimestamp } from '#lib/time/timestamp.ts';
import {
  CRON_HPA,
  type CronHpa,
  type CronHpaStatus,
  type JobCondition,
  type ReadyCondition,
  type ScaleTargetRef,
} from './cron-hpa.ts';
import { type MissedActivations, nextActivation, type PlannedJob } from './planned-jobs.ts';
import type { AdjustType } from './set-size.ts';
import type { Hindrance } from './target-conflicts.ts';

/** How the activation that held went. */
export interface Outcome {
  readonly planned: PlannedJob;
  readonly atMs: number;
  readonly state: 'Succeed' | 'Failed';
  readonly message: string;
  /** Why it failed, in the same words for each activation; `undefined` where it did not. */
  readonly cause?: string | undefined;
  /** By how much more than before there is to be: below zero where the job scaled down. */
  readonly change: number;
}

/** What a status is made of. */
export interface StatusInput {
  readonly nowMs: number;
  readonly jobs: readonly PlannedJob[];
  readonly outcome?: Outcome | undefined;
  readonly missed: readonly MissedActivations[];
  readonly hindrance?: Hindrance | undefined;
  readonly newJobId: () => string;
}

/** The status after a look at an object; the same in all its parts where nothing happened. */
export function statusAfter(object: CronHpa, input: StatusInput): CronHpaStatus {
  const { nowMs, jobs, outcome } = input;
  const { status } = object;
  const conditions = jobs.map((planned) => conditionOf(object, planned, input));
  const next = nextActivation(jobs, nowMs);
  const isDone = outcome?.state === 'Succeed';
  return {
    jobs: conditions,
    ready: readyOf(object, input),
    scaleUpKeepWindow: isDone && outcome.change !== 0 ? outcome.change > 0 : status.scaleUpKeepWindow,
    nextScheduleTime: next && formatTimestamp(next.atMs),
    lastScheduleTime: isDone ? formatTimestamp(outcome.atMs) : status.lastScheduleTime,
    lastResult: outcome ? printable(`${outcome.state} ${outcome.planned.job.name}`) : status.lastResult,
    observedGeneration: object.generation,
  };
}

/** The status of an object of which nothing can be made: what was known of its jobs stays, and none is due. */
export function statusOfUnreadable(object: CronHpa, problem: string, nowMs: number): CronHpaStatus {
  const hindrance = { reason: 'InvalidSpec', message: `Nothing is scaled: ${problem}` } as const;
  const ready = readyOf(object, { nowMs, jobs: [], hindrance });
  return { ...object.status, ready, nextScheduleTime: undefined, observedGeneration: object.generation };
}

function conditionOf(object: CronHpa, planned: PlannedJob, input: StatusInput): JobCondition {
  const base = planned.condition ?? submittedOf(object, planned, input);
  const { outcome } = input;
  if (planned.problem !== undefined) return failedOf(base, planned.problem, input);
  if (outcome?.planned === planned) {
    if (outcome.state === 'Failed') return failedOf(base, outcome.message, input);
    const { state, message, atMs } = outcome;
    const lastActivationTime = formatTimestamp(atMs);
    return { ...base, state, message, lastActivationTime, lastProbeTime: formatTimestamp(input.nowMs) };
  }
  const missed = input.missed.find((one) => one.planned === planned);
  if (!missed) return base;
  return {
    ...failedOf(base, missedMessage(missed), input),
    lastActivationTime: formatTimestamp(missed.lastMs),
  };
}

function submittedOf(
  { status }: CronHpa,
  { job, specHash, sinceMs }: PlannedJob,
  { nowMs, newJobId }: StatusInput,
): JobCondition {
  const known = status.jobs.find(({ name }) => name === job.name);
  return {
    jobId: known?.jobId ?? newJobId(),
    name: job.name,
    schedule: job.schedule,
    state: 'Submitted',
    lastProbeTime: formatTimestamp(nowMs),
    message: '',
    submittedTime: formatTimestamp(sinceMs),
    specHash,
  };
}

function failedOf(base: JobCondition, told: string, { nowMs }: StatusInput): JobCondition {
  const message = printable(told);
  if (base.state === 'Failed' && base.message === message) return base;
  return { ...base, state: 'Failed', message, lastProbeTime: formatTimestamp(nowMs) };
}

/** What is told of activations that are not made up for. */
function missedMessage({ planned, count, firstMs, lastMs, why }: MissedActivations): string {
  const { job, timeZone } = planned;
  const when =
    count === 1
      ? formatLocal(lastMs, timeZone)
      : `${formatLocal(firstMs, timeZone)} to ${formatLocal(lastMs, timeZone)}`;
  const reason =
    why === 'overtaken' ? 'a later activation was due by then' : 'startingDeadlineSeconds have passed';
  const counted = count === 1 ? 'its activation of' : `${count} activations from`;
  return printable(`cron hpa job ${job.name} missed ${counted} ${when}: ${reason}`);
}

function readyOf(
  object: CronHpa,
  { nowMs, jobs, hindrance }: Pick<StatusInput, 'nowMs' | 'jobs' | 'hindrance'>,
): ReadyCondition | undefined {
  const { ready: known } = object.status;
  const invalid = jobs.find(({ problem }) => problem !== undefined);
  const found = hindrance ??
    (invalid && {
      reason: 'InvalidJobs',
      message: `Job "${invalid.job.name}" is not scheduled: ${invalid.problem}`,
    }) ?? {
      reason: 'Scheduled',
      message: `${jobs.filter(({ schedule }) => schedule).length} of ${jobs.length} jobs are scheduled`,
    };
  const status = found.reason === 'Scheduled' ? 'True' : 'False';
  const { reason } = found;
  const message = printable(found.message);
  const observed = { type: 'Ready', status, reason, message, observedGeneration: object.generation } as const;
  const [ready] = setCondition<ReadyCondition>(known ? [known] : [], observed, nowMs);
  return ready;
}

/** How an activation went. */
interface ActivationReport {
  readonly job: string;
  readonly namespace: string;
  readonly target: ScaleTargetRef;
  readonly adjustType: AdjustType;
  /** What was there before, and what is to be there. */
  readonly current: number;
  readonly desired: number;
  readonly atMs: number;
  readonly nextMs: number | undefined;
  readonly timeZone: string;
}

/** A job's message after it has scaled, in the form that users of TKE know. */
export function successMessage(report: ActivationReport): string {
  const { job, namespace, target, adjustType, current, desired } = report;
  return printable(
    `cron hpa job ${job} executed successfully. ` +
      `current scale (namespace:${namespace};kind: ${target.kind};name: ${target.name}) replicas:${current}, ` +
      `desired scale replicas:${desired},adjustType:[${adjustType}]. ${timesOf(report)}`,
  );
}

/** A job's message after it could not scale. */
export function failureMessage(
  report: Pick<ActivationReport, 'job' | 'atMs' | 'nextMs' | 'timeZone'> & { readonly reason: string },
): string {
  return printable(
    `cron hpa job ${report.job} failed to execute, because of ${report.reason}. ${timesOf(report)}`,
  );
}

function timesOf({ atMs, nextMs, timeZone }: Pick<ActivationReport, 'atMs' | 'nextMs' | 'timeZone'>): string {
  return `time:${formatLocal(atMs, timeZone)}, next:${formatLocal(nextMs, timeZone)}`;
}

/** `2019-12-18 23:07:00`, as the clock of a zone shows it. */
export function formatLocal(atMs: number | undefined, timeZone: string): string {
  if (atMs === undefined) return 'none';
  return new Date(TimeZone.named(timeZone).civilMs(atMs)).toISOString().slice(0, 19).replace('T', ' ');
}

/** What happened at a look at an object. */
export interface Happened {
  readonly status: CronHpaStatus;
  readonly outcome: Outcome | undefined;
  readonly missed: readonly MissedActivations[];
}

/** What to tell of a look at an object: only what its status did not tell before. */
export function eventsOf(object: CronHpa, { status, outcome, missed }: Happened): readonly EventText[] {
  return [
    ...missed.map(
      (one) => ({ type: 'Warning', reason: 'ScheduleMissed', message: missedMessage(one) }) as const,
    ),
    ...scaledEvents(outcome),
    ...readyEvents(object, status, outcome),
  ];
}

/** The object as events name it. */
export function referenceTo({ namespace, name, uid, resourceVersion }: CronHpa) {
  const { group, version, kind } = CRON_HPA;
  return { apiVersion: `${group}/${version}`, kind, namespace, name, uid, resourceVersion };
}

function scaledEvents(outcome: Outcome | undefined): readonly EventText[] {
  if (outcome?.state !== 'Succeed' || outcome.change === 0) return [];
  return [{ type: 'Normal', reason: 'Scaled', message: outcome.message }];
}

/** The condition Ready tells causes alone, so it is the same from one activation that fails to the next. */
function readyEvents(
  { status: before }: CronHpa,
  { ready }: CronHpaStatus,
  outcome: Outcome | undefined,
): readonly EventText[] {
  if (ready?.status !== 'False' || ready.message === before.ready?.message) return [];
  const message = outcome?.state === 'Failed' ? outcome.message : ready.message;
  return [{ type: 'Warning', reason: ready.reason, message }];
}
