import { setCondition } from '#lib/control/conditions.ts';
import type { EventText } from '#lib/control/event-recorder.ts';
import { TimeZone } from '#lib/schedule/time-zone.ts';
import { printable } from '#lib/telemetry/printable.ts';
import { formatTimestamp } from '#lib/time/timestamp.ts';
import {
  adjustmentProblem,
  CRON_HPA,
  type CronHpa,
  type CronHpaStatus,
  type JobCondition,
  type ReadyCondition,
  type ScaleTargetRef,
} from './cron-hpa.ts';
import { type MissedActivations, nextActivation, type PlannedJob } from './planned-jobs.ts';
import type { AdjustType } from './set-size.ts';
import type { Blocker } from './target-conflicts.ts';

/** The result of running an activation. */
export interface Outcome {
  readonly planned: PlannedJob;
  readonly atMs: number;
  readonly state: 'Succeed' | 'Failed';
  readonly message: string;
  /** Why it failed: without times, so that it is equal for each activation; `undefined` on success. */
  readonly cause?: string | undefined;
  /** Desired minus current replicas; negative when the job scaled down. */
  readonly change: number;
}

export interface StatusInput {
  readonly nowMs: number;
  readonly jobs: readonly PlannedJob[];
  readonly outcome?: Outcome | undefined;
  readonly missed: readonly MissedActivations[];
  readonly blocker?: Blocker | undefined;
  readonly newJobId: () => string;
}

/** The status after a reconciliation, equal to the current one when nothing happened. */
export function statusAfter(object: CronHpa, input: StatusInput): CronHpaStatus {
  const { jobs, outcome } = input;
  const { status } = object;
  const conditions = jobs.map((planned) => conditionOf(object, planned, input));
  const next = nextActivation(jobs);
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

/** The status of an object with an invalid spec: the conditions of its jobs are retained, and no job is due. */
export function invalidSpecStatus(object: CronHpa, problem: string, nowMs: number): CronHpaStatus {
  const blocker = { reason: 'InvalidSpec', message: `Nothing is scaled: ${problem}` } as const;
  const ready = readyOf(object, { nowMs, jobs: [], blocker });
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
  const previous = status.jobs.find(({ name }) => name === job.name);
  return {
    jobId: previous?.jobId ?? newJobId(),
    name: job.name,
    schedule: job.schedule,
    state: 'Submitted',
    lastProbeTime: formatTimestamp(nowMs),
    message: '',
    submittedTime: formatTimestamp(sinceMs),
    specHash,
  };
}

function failedOf(base: JobCondition, text: string, { nowMs }: StatusInput): JobCondition {
  const message = printable(text);
  if (base.state === 'Failed' && base.message === message) return base;
  return { ...base, state: 'Failed', message, lastProbeTime: formatTimestamp(nowMs) };
}

/** The message for activations that are not run. */
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
  { nowMs, jobs, blocker }: Pick<StatusInput, 'nowMs' | 'jobs' | 'blocker'>,
): ReadyCondition | undefined {
  const { ready: previous } = object.status;
  const invalid = jobs.find(({ problem }) => problem !== undefined);
  const adjustment = adjustmentProblem(object);
  const found = blocker ??
    (invalid && {
      reason: 'InvalidJobs',
      message: `Job "${invalid.job.name}" is not scheduled: ${invalid.problem}`,
    }) ??
    (adjustment === undefined ? undefined : { reason: 'InvalidAdjustHpaMin', message: adjustment }) ?? {
      reason: 'Scheduled',
      message: `${jobs.filter(({ schedule }) => schedule).length} of ${jobs.length} jobs are scheduled`,
    };
  const status = found.reason === 'Scheduled' ? 'True' : 'False';
  const { reason } = found;
  const message = printable(found.message);
  const observed = { type: 'Ready', status, reason, message, observedGeneration: object.generation } as const;
  const [ready] = setCondition<ReadyCondition>(previous ? [previous] : [], observed, nowMs);
  return ready;
}

interface ActivationReport {
  readonly job: string;
  readonly namespace: string;
  readonly target: ScaleTargetRef;
  readonly adjustType: AdjustType;
  readonly current: number;
  readonly desired: number;
  readonly atMs: number;
  readonly nextMs: number | undefined;
  readonly timeZone: string;
}

/** The message of a job that has scaled, in the format of TKE. */
export function successMessage(report: ActivationReport): string {
  const { job, namespace, target, adjustType, current, desired } = report;
  return printable(
    `cron hpa job ${job} executed successfully. ` +
      `current scale (namespace:${namespace};kind: ${target.kind};name: ${target.name}) replicas:${current}, ` +
      `desired scale replicas:${desired},adjustType:[${adjustType}]. ${timesOf(report)}`,
  );
}

/** The message of a job that could not scale, in the format of TKE. */
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

/** Formats a time as `2019-12-18 23:07:00` in a time zone; `none` for `undefined`. */
export function formatLocal(atMs: number | undefined, timeZone: string): string {
  if (atMs === undefined) return 'none';
  return new Date(TimeZone.named(timeZone).civilMs(atMs)).toISOString().slice(0, 19).replace('T', ' ');
}

/** The results of one reconciliation. */
export interface ReconcileReport {
  readonly status: CronHpaStatus;
  readonly outcome: Outcome | undefined;
  readonly missed: readonly MissedActivations[];
}

/** The events of a reconciliation: only what the previous status did not report. */
export function eventsOf(
  object: CronHpa,
  { status, outcome, missed }: ReconcileReport,
): readonly EventText[] {
  return [
    ...missed.map(
      (one) => ({ type: 'Warning', reason: 'ScheduleMissed', message: missedMessage(one) }) as const,
    ),
    ...scaledEvents(outcome),
    ...readyEvents(object, status, outcome),
  ];
}

/** The `regarding` reference of events. */
export function referenceTo({ group, namespace, name, uid, resourceVersion }: CronHpa) {
  const { version, kind } = CRON_HPA; // the same in each group
  return { apiVersion: `${group}/${version}`, kind, namespace, name, uid, resourceVersion };
}

function scaledEvents(outcome: Outcome | undefined): readonly EventText[] {
  if (outcome?.state !== 'Succeed' || outcome.change === 0) return [];
  return [{ type: 'Normal', reason: 'Scaled', message: outcome.message }];
}

/** The condition Ready has only causes, without times: failing activations with one cause emit one event. */
function readyEvents(
  { status: before }: CronHpa,
  { ready }: CronHpaStatus,
  outcome: Outcome | undefined,
): readonly EventText[] {
  if (ready?.status !== 'False' || ready.message === before.ready?.message) return [];
  const message = outcome?.state === 'Failed' ? outcome.message : ready.message;
  return [{ type: 'Warning', reason: ready.reason, message }];
}
