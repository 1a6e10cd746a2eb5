import * as z from 'zod/mini';
import { createStringInterner } from '#lib/cache/interner.ts';
import type { Condition } from '#lib/control/conditions.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import type { InformedKind } from '#lib/kubernetes/informer/shared-informers.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { specChangedAt } from '#lib/kubernetes/objects/managed-fields.ts';

/** What a CronHorizontalPodAutoscaler scales. */
export interface ScaleTargetRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** One job of a CronHorizontalPodAutoscaler: a size, and when it is to be set. */
export interface CronHpaJob {
  readonly name: string;
  readonly schedule: string;
  readonly targetSize: number;
  /** Where the schedule's times are meant; by default where the program is told that they are. */
  readonly timeZone?: string | undefined;
  /** Whether the job ends with its first activation. */
  readonly runOnce: boolean;
  /** Whether the job rests. */
  readonly suspend: boolean;
  /** Days on which the job is not due. */
  readonly excludeDates: readonly string[];
}

/** What a user wants of a CronHorizontalPodAutoscaler. */
export interface CronHpaSpec {
  readonly scaleTargetRef: ScaleTargetRef;
  readonly jobs: readonly CronHpaJob[];
  /** Days on which no job is due. */
  readonly excludeDates: readonly string[];
  /** An activation that is later than this is not made up for; by default any is that no later job has overtaken. */
  readonly startingDeadlineSeconds?: number | undefined;
}

/** How a job's last activation went, or that it has had none yet. */
type JobState = 'Submitted' | 'Succeed' | 'Failed';

/** What is known of a job. Times are as in RFC 3339. */
export interface JobCondition {
  readonly jobId: string;
  readonly name: string;
  readonly schedule: string;
  readonly state: JobState;
  readonly lastProbeTime: string;
  readonly message: string;
  /** When the job was made or changed, or else first seen as it is now. */
  readonly submittedTime: string;
  /** The last activation that was dealt with, be it by having been told that it was missed. */
  readonly lastActivationTime?: string | undefined;
  /** Tells a job that has changed. */
  readonly specHash: string;
}

/** Whether the object does what it is meant to do. */
export interface ReadyCondition extends Condition {
  readonly type: 'Ready';
  readonly status: 'True' | 'False';
}

/** What the controller tells of a CronHorizontalPodAutoscaler. */
export interface CronHpaStatus {
  readonly jobs: readonly JobCondition[];
  readonly ready?: ReadyCondition | undefined;
  /** True from a job that scaled up until the next that scales down. */
  readonly scaleUpKeepWindow: boolean;
  readonly nextScheduleTime?: string | undefined;
  readonly lastScheduleTime?: string | undefined;
  /** State and name of the job that was last activated. */
  readonly lastResult?: string | undefined;
  readonly observedGeneration?: number | undefined;
}

/** A CronHorizontalPodAutoscaler, as far as we need it. */
export interface CronHpa {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number | undefined;
  readonly annotations: Readonly<Record<string, string>>;
  readonly isBeingDeleted: boolean;
  /** When its spec became what it is, by the API server's clock; of a spec that the status does not tell of yet. */
  readonly specChangedAtMs: number | undefined;
  /** Why nothing can be made of its spec, which is empty then: where the definition is another one, it may let through what ours refuses. */
  readonly problem: string | undefined;
  readonly spec: CronHpaSpec;
  readonly status: CronHpaStatus;
}

/** The kind, its group and its version. */
export const CRON_HPA = {
  group: 'autoscaling.stke.com',
  version: 'v1beta1',
  kind: 'CronHorizontalPodAutoscaler',
  plural: 'cronhorizontalpodautoscalers',
} as const;

/** The annotation that has jobs move the HPA's minReplicas rather than the target's replicas, as TKE's do. */
export const ADJUST_HPA_MIN = 'platform.stke/adjust-hpa-min';

/** As events and logs name it. */
export function nameOf({ namespace, name }: Pick<CronHpa, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

const TARGET = z.object({ apiVersion: z.string(), kind: z.string(), name: z.string() });

/** As the definition has it: each takes memory while it is planned. */
const MOST_JOBS = 100;

const DATES = z._default(z.array(z.string()), []);

const JOB = z.object({
  name: z.string(),
  schedule: z.string(),
  targetSize: z.int().check(z.nonnegative()),
  timeZone: z.optional(z.string()),
  runOnce: z._default(z.boolean(), false),
  suspend: z._default(z.boolean(), false),
  excludeDates: DATES,
});

const JOB_CONDITION = z.object({
  jobId: z.string(),
  name: z.string(),
  schedule: z.string(),
  state: z.enum(['Submitted', 'Succeed', 'Failed']),
  lastProbeTime: z.string(),
  message: z._default(z.string(), ''),
  submittedTime: z.string(),
  lastActivationTime: z.optional(z.string()),
  specHash: z.string(),
});

const READY = z.object({
  type: z.literal('Ready'),
  status: z.enum(['True', 'False']),
  reason: z.string(),
  message: z.string(),
  observedGeneration: z.optional(z.int()),
  lastTransitionTime: z.string(),
});

const STATUS = z.object({
  conditions: z._default(z.array(z.unknown()), []),
  scaleUpKeepWindow: z._default(z.boolean(), false),
  nextScheduleTime: z.optional(z.string()),
  lastScheduleTime: z.optional(z.string()),
  lastResult: z.optional(z.string()),
  observedGeneration: z.optional(z.int()),
});

const METADATA = z.object({
  name: z.string(),
  namespace: z.string(),
  uid: z.string(),
  resourceVersion: z.string(),
  generation: z.optional(z.int()),
  annotations: z._default(z.record(z.string(), z.string()), {}),
  deletionTimestamp: z.optional(z.string()),
  creationTimestamp: z.optional(z.string()),
  managedFields: z.optional(z.unknown()),
});

const SPEC = z.object({
  scaleTargetRef: TARGET,
  jobs: z.array(JOB).check(z.maxLength(MOST_JOBS)),
  excludeDates: DATES,
  startingDeadlineSeconds: z.optional(z.int().check(z.nonnegative())),
});

/** Gives one and the same text for equal ones, so that what many objects have in common is held once. */
type Share = (text: string) => string;

/**
 * Takes what the API server sent for a CronHorizontalPodAutoscaler; of its annotations those alone that count here.
 *
 * @returns `undefined` for what is no named object; a spec that our definition does not allow is empty, with the `problem` that it has; a status
 * that somebody has spoilt counts as none
 */
export function readCronHpa(value: unknown, share: Share = (text) => text): CronHpa | undefined {
  const read = METADATA.safeParse(propertyOf(value, 'metadata'));
  if (!read.success) return undefined;
  const metadata = read.data;
  const status = propertyOf(value, 'status');
  const spec = SPEC.safeParse(propertyOf(value, 'spec'));
  return {
    namespace: share(metadata.namespace),
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    generation: metadata.generation,
    annotations: ownAnnotations(metadata.annotations),
    isBeingDeleted: metadata.deletionTimestamp !== undefined,
    specChangedAtMs: isToldOf(metadata.generation, status) ? undefined : specChangedAt(metadata),
    problem: spec.success ? undefined : problemOf(spec.error.issues),
    spec: spec.success ? readSpec(spec.data, share) : NO_SPEC,
    status: readStatus(status, share),
  };
}

const NO_SPEC: CronHpaSpec = {
  scaleTargetRef: { apiVersion: '', kind: '', name: '' },
  jobs: [],
  excludeDates: [],
};

/** The first problem, in words of our own: nothing of the object is repeated but where it is. */
function problemOf([issue]: readonly z.core.$ZodIssue[]): string {
  const path = ['spec', ...(issue?.path ?? [])].map(String).join('.');
  if (issue?.code === 'too_big') return `${path} has more than ${issue.maximum} items`;
  if (issue?.code === 'too_small') return `${path} is less than ${issue.minimum}`;
  return issue?.code === 'invalid_type' ? `${path} is no ${issue.expected}` : `${path} is not what it may be`;
}

/** Whether a status tells of a spec, be it in the words of another controller, which knows no generations. */
function isToldOf(generation: number | undefined, status: unknown): boolean {
  if (typeof status !== 'object' || status === null || Object.keys(status).length === 0) return false;
  const observed = propertyOf(status, 'observedGeneration');
  return typeof observed !== 'number' || generation === undefined || observed >= generation;
}

const NO_ANNOTATIONS = {};

/** Others may take 256 kB. */
function ownAnnotations(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const adjust = annotations[ADJUST_HPA_MIN];
  return adjust === undefined ? NO_ANNOTATIONS : { [ADJUST_HPA_MIN]: adjust };
}

function readSpec(
  { scaleTargetRef, jobs, excludeDates, startingDeadlineSeconds }: z.infer<typeof SPEC>,
  share: Share,
): CronHpaSpec {
  const { apiVersion, kind, name } = scaleTargetRef;
  return {
    scaleTargetRef: { apiVersion: share(apiVersion), kind: share(kind), name },
    jobs: jobs.map((job) => ({
      name: share(job.name),
      schedule: share(job.schedule),
      targetSize: job.targetSize,
      ...(job.timeZone !== undefined && { timeZone: share(job.timeZone) }),
      runOnce: job.runOnce,
      suspend: job.suspend,
      excludeDates: shareAll(job.excludeDates, share),
    })),
    excludeDates: shareAll(excludeDates, share),
    ...(startingDeadlineSeconds !== undefined && { startingDeadlineSeconds }),
  };
}

const NONE: readonly string[] = [];

function shareAll(texts: readonly string[], share: Share): readonly string[] {
  return texts.length === 0 ? NONE : texts.map(share);
}

function readStatus(value: unknown, share: Share): CronHpaStatus {
  const read = STATUS.safeParse(value ?? {});
  if (!read.success) return { jobs: [], scaleUpKeepWindow: false };
  const { conditions, ...rest } = read.data;
  const ready = conditions.map((one) => READY.safeParse(one).data).find((one) => one !== undefined);
  const jobs = conditions.map((one) => JOB_CONDITION.safeParse(one).data).filter((one) => one !== undefined);
  return {
    ...rest,
    jobs: jobs.map((job) => readJobCondition(job, share)),
    ready: ready && { ...ready, ...sharedOf(ready, share) },
  };
}

function readJobCondition(job: z.infer<typeof JOB_CONDITION>, share: Share): JobCondition {
  return {
    jobId: job.jobId,
    name: share(job.name),
    schedule: share(job.schedule),
    state: share(job.state) as JobState,
    lastProbeTime: share(job.lastProbeTime),
    message: share(job.message),
    submittedTime: share(job.submittedTime),
    specHash: job.specHash,
    ...(job.lastActivationTime !== undefined && { lastActivationTime: share(job.lastActivationTime) }),
  };
}

function sharedOf(ready: z.infer<typeof READY>, share: Share) {
  return {
    reason: share(ready.reason),
    message: share(ready.message),
    lastTransitionTime: share(ready.lastTransitionTime),
  };
}

/** The status as the API server takes it: one list holds the jobs' conditions and the standard one. */
export function formatStatus({ jobs, ready, ...rest }: CronHpaStatus): Record<string, unknown> {
  return { ...rest, conditions: [...jobs, ...(ready ? [ready] : [])] };
}

/** Where CronHorizontalPodAutoscalers are. */
export const CRON_HPAS: ApiResource = { ...CRON_HPA, namespaced: true, subresources: ['status'] };

/** Names, schedules and times that objects have in common are held once; messages of activations are longer, and differ. */
const SHARED_TEXTS = { capacity: 5_000, maxKeyLength: 80 };

/** CronHorizontalPodAutoscalers as informers cache them. */
export const CRON_HPA_KIND: InformedKind<CronHpa> = {
  resource: CRON_HPAS,
  versions: [CRON_HPA.version],
  decoder() {
    const texts = createStringInterner(SHARED_TEXTS);
    return (value) => readCronHpa(value, (text) => texts.intern(text));
  },
};

/** Under which name the API server knows our changes. */
export const FIELD_MANAGER = 'autoscaler-cronhpa';
