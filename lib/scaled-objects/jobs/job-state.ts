import * as z from 'zod';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import { type KubernetesObject, readObject } from '#lib/kubernetes/objects/kubernetes-object.ts';

const CONDITIONS = z
  .array(z.object({ type: z.string(), status: z.string(), lastTransitionTime: z.string().nullish() }))
  .nullish();
const JOB_STATUS = z.object({ completionTime: z.string().nullish(), conditions: CONDITIONS });
const POD_STATUS = z.object({ phase: z.string().nullish(), conditions: CONDITIONS });
const JOB = z.object({ status: JOB_STATUS.nullish() });
const POD = z.object({ status: POD_STATUS.nullish() });

export interface FoundJob extends KubernetesObject {
  readonly status?: Readonly<Partial<z.output<typeof JOB_STATUS>>>;
}

export interface FoundPod extends KubernetesObject {
  readonly status?: Readonly<Partial<z.output<typeof POD_STATUS>>>;
}

/** Generation of the ScaledJob that created a Job. */
export const GENERATION_ANNOTATION = 'scaledjob.keda.sh/generation';

/**
 * Retains only the fields that are used: a pod template may have 1 MiB, and there may be thousands.
 *
 * @throws an Error with the name of the field that has the wrong type
 */
export function readFoundJob(value: unknown): FoundJob {
  const { metadata } = readObject(value);
  const { status } = readAs(JOB, 'a Job', value);
  const { namespace, name, uid, creationTimestamp, deletionTimestamp, annotations } = metadata;
  const generation = getOwn(annotations, GENERATION_ANNOTATION);
  return {
    metadata: {
      ...{ namespace, name, uid, creationTimestamp, deletionTimestamp },
      ...(generation !== undefined && { annotations: { [GENERATION_ANNOTATION]: generation } }),
    },
    ...(status && { status }),
  } as FoundJob;
}

/** Retains only the fields that are used. @throws as {@link readFoundJob} */
export function readFoundPod(value: unknown): FoundPod {
  const { metadata } = readObject(value);
  const { status } = readAs(POD, 'a pod', value);
  const job = getOwn(metadata.labels, JOB_NAME_LABEL);
  return {
    metadata: { name: metadata.name, ...(job !== undefined && { labels: { [JOB_NAME_LABEL]: job } }) },
    ...(status && { status }),
  };
}

const JOB_NAME_LABEL = 'job-name';

/** @returns `undefined` for a Job that has not ended */
function endOf({ status }: FoundJob): { readonly isComplete: boolean; readonly atMs: number } | undefined {
  const end = status?.conditions?.find(
    ({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True',
  );
  if (!end) return undefined;
  const atMs = Date.parse(status?.completionTime ?? end.lastTransitionTime ?? '');
  return { isComplete: end.type === 'Complete', atMs: Number.isNaN(atMs) ? 0 : atMs };
}

/**
 * Jobs that count as running for a queue length: those that have not ended, and those that ended after it was read, whose
 * messages it may still include.
 */
export function runningJobs(jobs: readonly FoundJob[], observedAtMs: number): readonly FoundJob[] {
  return jobs.filter((job) => {
    const end = endOf(job);
    return end === undefined || end.atMs >= observedAtMs;
  });
}

/** Running Jobs without a pod that is Running or Succeeded, or that has all given conditions with status True. */
export function pendingJobs(
  running: readonly FoundJob[],
  pods: readonly FoundPod[],
  conditions: readonly string[],
): readonly FoundJob[] {
  const required = [...new Set(conditions)];
  const isAtWork = ({ status }: FoundPod) =>
    required.length === 0
      ? status?.phase === 'Running' || status?.phase === 'Succeeded'
      : required.every((type) =>
          status?.conditions?.some((one) => one.type === type && one.status === 'True'),
        );
  const atWork = new Set(pods.filter(isAtWork).map(({ metadata }) => metadata.labels?.[JOB_NAME_LABEL]));
  return running.filter((job) => endOf(job) === undefined && !atWork.has(job.metadata.name));
}

/** Ended Jobs beyond the history limits, the oldest first. */
export function surplusJobs(
  jobs: readonly FoundJob[],
  { successful, failed }: { readonly successful: number; readonly failed: number },
): readonly FoundJob[] {
  const ended = jobs.flatMap((job) => {
    const end = endOf(job);
    return end ? [{ job, ...end }] : [];
  });
  const oldest = (isComplete: boolean, limit: number) => {
    const sorted = ended.filter((one) => one.isComplete === isComplete).sort((a, b) => a.atMs - b.atMs);
    return sorted.slice(0, Math.max(0, sorted.length - limit)).map(({ job }) => job);
  };
  return [...oldest(true, successful), ...oldest(false, failed)];
}

/** Summary of the Jobs of a ScaledJob, for the page and the debug endpoint. */
export interface JobSummary {
  readonly listedAtMs: number;
  readonly active: number;
  readonly complete: number;
  readonly failed: number;
  /** The latest, at most {@link MAX_SUMMARIZED}, newest first. */
  readonly jobs: readonly SummarizedJob[];
}

interface SummarizedJob {
  readonly name: string;
  readonly state: 'Active' | 'Complete' | 'Failed';
  /** `NaN` if the API server has no valid time. */
  readonly createdAtMs: number;
  readonly endedAtMs: number | undefined;
}

/** Bounds memory: a ScaledJob may have thousands. */
const MAX_SUMMARIZED = 50;

/** Counts Jobs by state, and describes the newest. */
export function summarizeJobs(all: readonly FoundJob[], listedAtMs: number): JobSummary {
  const counts = { active: 0, complete: 0, failed: 0 };
  const jobs = all.map((job): SummarizedJob => {
    const end = endOf(job);
    const state = end === undefined ? 'Active' : end.isComplete ? 'Complete' : 'Failed';
    counts[state === 'Active' ? 'active' : state === 'Complete' ? 'complete' : 'failed']++;
    const { name, creationTimestamp = '' } = job.metadata;
    return { name, state, createdAtMs: Date.parse(creationTimestamp), endedAtMs: end?.atMs };
  });
  const newest = (job: SummarizedJob) => (Number.isNaN(job.createdAtMs) ? 0 : job.createdAtMs);
  jobs.sort((a, b) => newest(b) - newest(a) || (a.name < b.name ? -1 : 1));
  return { listedAtMs, ...counts, jobs: jobs.slice(0, MAX_SUMMARIZED) };
}
