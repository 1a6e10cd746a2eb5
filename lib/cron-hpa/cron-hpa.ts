import * as z from 'zod';
import { createStringInterner } from '#lib/cache/interner.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import type { InformedKind } from '#lib/kubernetes/informer/shared-informers.ts';
import { type Decoded, findWrongField } from '#lib/kubernetes/objects/find-wrong-field.ts';
import { measureObject, propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { specChangedAt } from '#lib/kubernetes/objects/managed-fields.ts';

export type ScaleTargetRef = Decoded<typeof TARGET>;

/** A job: a size and the schedule that sets it. */
export type CronHpaJob = Decoded<typeof JOB>;

export type CronHpaSpec = Decoded<typeof SPEC>;

/** The status of one job. Times are in RFC 3339. */
export type JobCondition = Decoded<typeof JOB_CONDITION>;

export type ReadyCondition = Decoded<typeof READY>;

export interface CronHpaStatus extends Omit<Decoded<typeof STATUS>, 'conditions'> {
  readonly jobs: readonly JobCondition[];
  readonly ready?: ReadyCondition | undefined;
}

/** The fields of a CronHorizontalPodAutoscaler that the controller uses. */
export interface CronHpa {
  /** The API group of its kind. */
  readonly group: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number | undefined;
  readonly annotations: Readonly<Record<string, string>>;
  readonly isBeingDeleted: boolean;
  /** When the spec changed, by the clock of the API server; `undefined` when the status already reflects the spec. */
  readonly specChangedAtMs: number | undefined;
  /** Why the spec is invalid; `spec` is empty then. An installed definition other than ours may admit it. */
  readonly problem: string | undefined;
  readonly spec: CronHpaSpec;
  readonly status: CronHpaStatus;
}

export const CRON_HPA = {
  group: 'autoscaling.stke.com',
  version: 'v1beta1',
  kind: 'CronHorizontalPodAutoscaler',
  plural: 'cronhorizontalpodautoscalers',
} as const;

/**
 * The annotation, as in TKE: with "true", jobs set minReplicas of the target's HPA and fail without one; with "false",
 * they set replicas and fail if there is an HPA. With "hold", they set both bounds of the HPA, so that the target has
 * their size until the next job. Without it, they set minReplicas if there is an HPA.
 */
export const ADJUST_HPA_MIN = 'platform.stke/adjust-hpa-min';

/** What {@link ADJUST_HPA_MIN} of an object specifies; `undefined` without it, or for any other value. */
export function adjustmentOf({
  annotations,
}: Pick<CronHpa, 'annotations'>): 'true' | 'false' | 'hold' | undefined {
  const value = annotations[ADJUST_HPA_MIN];
  return value === 'true' || value === 'false' || value === 'hold' ? value : undefined;
}

/** Why {@link ADJUST_HPA_MIN} of an object has no effect; `undefined` without it, or if it is valid. */
export function adjustmentProblem(object: Pick<CronHpa, 'annotations'>): string | undefined {
  const isInvalid = ADJUST_HPA_MIN in object.annotations && adjustmentOf(object) === undefined;
  return isInvalid
    ? `Annotation ${ADJUST_HPA_MIN} has no effect: it must be one of true, false, hold`
    : undefined;
}

/** Whether jobs of an object fail if its target has no HPA. */
export function needsHpa(object: CronHpa): boolean {
  return adjustmentOf(object) === 'true' || object.spec.scaleTargetRef.kind === 'HorizontalPodAutoscaler';
}

/** `NAMESPACE/NAME`, as in events and logs. */
export function nameOf({ namespace, name }: Pick<CronHpa, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

const TARGET = z.object({ apiVersion: z.string(), kind: z.string(), name: z.string() });

/** The limits of the definition; they bound the memory of planning. */
const MAX_JOBS = 100;
const MAX_DATES = 366;

/** Of a spec: the dates of each job and of the object, and up to ten other values beside them. */
const MAX_VALUES = (MAX_JOBS + 1) * (MAX_DATES + 10);
const MIB = 1024 * 1024;
/** Of a spec, with 32 bytes for each value: the API server accepts an object of 3 MiB, and etcd stores 1.5 MiB by default. */
const MAX_SPEC_BYTES = 4.5 * MIB;
/** A hundred conditions with messages of 1 KB take 150 kB. */
const MAX_STATUS_BYTES = MIB / 2;

/** Statuses repeat names and schedules, in one kind within an annotation, and annotations are limited to 256 KiB. */
const MAX_NAME_LENGTH = 128;
export const MAX_SCHEDULE_LENGTH = 256;

const DATES = z.array(z.string()).default([]);

/** Hashes of jobs depend on the order of the fields. */
const JOB = z.object({
  name: z.string().max(MAX_NAME_LENGTH),
  schedule: z.string().max(MAX_SCHEDULE_LENGTH),
  targetSize: z.int().nonnegative(),
  /** Time zone of the schedule; by default the one of the program. */
  timeZone: z.string().optional(),
  /** Whether the job runs once only. */
  runOnce: z.boolean().default(false),
  suspend: z.boolean().default(false),
  /** Dates on which the job is not due. */
  excludeDates: DATES,
});

const JOB_CONDITION = z.object({
  jobId: z.string(),
  name: z.string(),
  schedule: z.string(),
  state: z.enum(['Submitted', 'Succeed', 'Failed']),
  lastProbeTime: z.string(),
  message: z.string().default(''),
  /** When the job was created or last changed, or else when this controller first observed it. */
  submittedTime: z.string(),
  /** The last activation that was run or reported as missed. */
  lastActivationTime: z.string().optional(),
  /** Changes with the spec of the job. */
  specHash: z.string(),
});

const READY = z.object({
  type: z.literal('Ready'),
  status: z.enum(['True', 'False']),
  reason: z.string(),
  message: z.string(),
  observedGeneration: z.int().optional(),
  lastTransitionTime: z.string(),
});

const STATUS = z.object({
  conditions: z.array(z.unknown()).default([]),
  /** True after a job has scaled up, until one scales down. */
  scaleUpKeepWindow: z.boolean().default(false),
  nextScheduleTime: z.string().optional(),
  lastScheduleTime: z.string().optional(),
  /** State and name of the last job that ran. */
  lastResult: z.string().optional(),
  observedGeneration: z.int().optional(),
});

const METADATA = z.object({
  name: z.string(),
  namespace: z.string(),
  uid: z.string(),
  resourceVersion: z.string(),
  generation: z.int().optional(),
  annotations: z.record(z.string(), z.string()).default({}),
  deletionTimestamp: z.string().optional(),
  creationTimestamp: z.string().optional(),
  managedFields: z.unknown().optional(),
});

const SPEC = z.object({
  scaleTargetRef: TARGET,
  jobs: z.array(JOB).max(MAX_JOBS),
  /** Dates on which no job is due. */
  excludeDates: DATES,
  /** Activations later than this are missed; without it only those that a later activation supersedes. */
  startingDeadlineSeconds: z.int().nonnegative().optional(),
});

/** Interns a text: equal texts of many objects share memory. */
export type Share = (text: string) => string;

/**
 * Decodes a CronHorizontalPodAutoscaler of the API server; of its annotations only those of this controller.
 *
 * @returns `undefined` for a value that is not a named object; an empty spec with `problem` when the spec is invalid. A
 * malformed status is treated as absent.
 */
export function readCronHpa(value: unknown, share: Share = (text) => text): CronHpa | undefined {
  const read = METADATA.safeParse(propertyOf(value, 'metadata'));
  if (!read.success) return undefined;
  const metadata = read.data;
  const reported = propertyOf(value, 'status');
  const status = isBounded(reported, MAX_STATUS_BYTES) ? reported : undefined;
  const given = propertyOf(value, 'spec');
  const spec = isBounded(given, MAX_SPEC_BYTES) ? SPEC.safeParse(given) : undefined;
  return {
    group: CRON_HPA.group,
    namespace: share(metadata.namespace),
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    generation: metadata.generation,
    annotations: ownAnnotations(metadata.annotations),
    isBeingDeleted: metadata.deletionTimestamp !== undefined,
    specChangedAtMs: reflectsSpec(metadata.generation, status) ? undefined : specChangedAt(metadata),
    problem: spec ? spec.error && problemOf(spec.error.issues) : TOO_LARGE,
    spec: spec?.success ? readSpec(spec.data, share) : NO_SPEC,
    status: readStatus(status, share),
  };
}

const TOO_LARGE = `spec has more than ${MAX_SPEC_BYTES / MIB} MiB or too many values`;

/** Whether a value is cached. A schema would list each of a million wrong fields, which takes seconds. */
function isBounded(value: unknown, maxBytes: number): boolean {
  try {
    return measureObject(value, MAX_VALUES) <= maxBytes;
  } catch {
    return false;
  }
}

const NO_SPEC: CronHpaSpec = {
  scaleTargetRef: { apiVersion: '', kind: '', name: '' },
  jobs: [],
  excludeDates: [],
};

/** Describes the first problem by its path only; values of the object are not repeated. */
function problemOf([issue]: readonly z.core.$ZodIssue[]): string {
  const path = ['spec', ...(issue?.path ?? [])].map(String).join('.');
  if (issue?.code === 'too_big')
    return `${path} has more than ${issue.maximum} ${issue.origin === 'string' ? 'characters' : 'items'}`;
  if (issue?.code === 'too_small') return `${path} is less than ${issue.minimum}`;
  return issue?.code === 'invalid_type' ? `${path} is not of type ${issue.expected}` : `${path} is invalid`;
}

/** Whether a status reflects the spec, also when another controller wrote it that does not set observedGeneration. */
function reflectsSpec(generation: number | undefined, status: unknown): boolean {
  if (typeof status !== 'object' || status === null || Object.keys(status).length === 0) return false;
  const observed = propertyOf(status, 'observedGeneration');
  return typeof observed !== 'number' || generation === undefined || observed >= generation;
}

const NO_ANNOTATIONS = {};

/** More than the valid values have. */
const MAX_ADJUSTMENT_LENGTH = 8;

/** Annotations of an object may take 256 kB; of a longer, invalid value, only the beginning is cached. */
function ownAnnotations(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const adjust = annotations[ADJUST_HPA_MIN];
  return adjust === undefined ? NO_ANNOTATIONS : { [ADJUST_HPA_MIN]: adjust.slice(0, MAX_ADJUSTMENT_LENGTH) };
}

function readSpec(
  { scaleTargetRef, jobs, excludeDates, ...spec }: z.output<typeof SPEC>,
  share: Share,
): CronHpaSpec {
  const { apiVersion, kind, name } = scaleTargetRef;
  return {
    ...spec,
    scaleTargetRef: { apiVersion: share(apiVersion), kind: share(kind), name },
    jobs: shareTexts(jobs, share),
    excludeDates: shareTexts(excludeDates, share),
  };
}

const NONE: readonly never[] = [];
/** Fields whose texts differ. */
const UNSHARED: readonly string[] = ['jobId', 'specHash'];

/** Replaces the texts in a value that was just decoded by shared ones. */
function shareTexts<T>(value: T, share: Share): T {
  if (typeof value === 'string') return share(value) as T & string;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value))
    return (value.length === 0 ? NONE : value.map((one) => shareTexts(one, share))) as T;
  for (const key in value) if (!UNSHARED.includes(key)) value[key] = shareTexts(value[key], share);
  return value;
}

function readStatus(value: unknown, share: Share): CronHpaStatus {
  const read = STATUS.safeParse(value ?? {});
  if (!read.success) return { jobs: [], scaleUpKeepWindow: false };
  const { conditions, ...rest } = read.data;
  const ready = conditions.map((one) => READY.safeParse(one).data).find((one) => one !== undefined);
  const jobs = conditions.map((one) => JOB_CONDITION.safeParse(one).data).filter((one) => one !== undefined);
  return { ...rest, jobs: shareTexts(jobs, share), ready: shareTexts(ready, share) };
}

/** Encodes a status: `conditions` has the conditions of jobs and the standard condition. */
export function formatStatus({ jobs, ready, ...rest }: CronHpaStatus): Record<string, unknown> {
  return { ...rest, conditions: [...jobs, ...(ready ? [ready] : [])] };
}

export const CRON_HPAS: ApiResource = { ...CRON_HPA, namespaced: true, subresources: ['status'] };

/** Interns names, schedules and times; messages of activations are longer and differ. */
const SHARED_TEXTS = { capacity: 5_000, maxKeyLength: 80 };

/** Of all objects of a namespace: 10,000 of 3 KiB. */
const MAX_NAMESPACE_BYTES = 32 * MIB;
const TOO_MANY = `the objects of this kind in the namespace together take more than ${MAX_NAMESPACE_BYTES / MIB} MiB`;

/** Objects of a kind as informers cache them. */
export function informedCronHpas(
  resource: ApiResource,
  read: (value: unknown, share: Share) => CronHpa | undefined,
): InformedKind<CronHpa> {
  return {
    resource,
    versions: [resource.version],
    budget: {
      maxBytes: MAX_NAMESPACE_BYTES,
      sizeBytes: ({ spec }) => measureObject(spec, MAX_VALUES),
      reduce: (object) => ({ ...object, spec: NO_SPEC, problem: object.problem ?? TOO_MANY }),
    },
    decoder() {
      const texts = createStringInterner(SHARED_TEXTS);
      const share: Share = (text) => texts.intern(text);
      return (value) => {
        const object = read(value, share);
        if (object) return object;
        const wrong = findWrongField(METADATA, 'metadata', propertyOf(value, 'metadata'));
        throw new Error(`Cannot read a CronHorizontalPodAutoscaler: ${wrong}`);
      };
    },
  };
}

export const CRON_HPA_KIND = informedCronHpas(CRON_HPAS, readCronHpa);

/** The field manager of status writes and HPA patches. */
export const FIELD_MANAGER = 'autoscaler-cronhpa';
