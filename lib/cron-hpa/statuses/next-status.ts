import { formatTime } from '#lib/control/conditions.ts';
import { printable } from '#lib/telemetry/printable.ts';
import type { CronHpa, CronHpaStatus, JobCondition, ReadyCondition } from '../cron-hpa.ts';
import { type MissedActivations, nextActivation, type PlannedJob } from '../planned-jobs.ts';
import { formatLocal } from './activation-message.ts';

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

/** Why an object cannot do what it is meant to do. */
export interface Hindrance {
  readonly reason: 'TargetConflict' | 'OwnedByScaledObject' | 'InvalidSpec' | 'InvalidJobs' | 'ScalingFailed';
  readonly message: string;
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
    nextScheduleTime: next && formatTime(next.atMs),
    lastScheduleTime: isDone ? formatTime(outcome.atMs) : status.lastScheduleTime,
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
    const lastActivationTime = formatTime(atMs);
    return { ...base, state, message, lastActivationTime, lastProbeTime: formatTime(input.nowMs) };
  }
  const missed = input.missed.find((one) => one.planned === planned);
  if (!missed) return base;
  return {
    ...failedOf(base, missedMessage(missed), input),
    lastActivationTime: formatTime(missed.lastMs),
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
    lastProbeTime: formatTime(nowMs),
    message: '',
    submittedTime: formatTime(sinceMs),
    specHash,
  };
}

function failedOf(base: JobCondition, told: string, { nowMs }: StatusInput): JobCondition {
  const message = printable(told);
  if (base.state === 'Failed' && base.message === message) return base;
  return { ...base, state: 'Failed', message, lastProbeTime: formatTime(nowMs) };
}

/** What is told of activations that are not made up for. */
export function missedMessage({ planned, count, firstMs, lastMs, why }: MissedActivations): string {
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
): ReadyCondition {
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
  const lastTransitionTime = known?.status === status ? known.lastTransitionTime : formatTime(nowMs);
  return {
    type: 'Ready',
    status,
    reason,
    message,
    observedGeneration: object.generation,
    lastTransitionTime,
  };
}
