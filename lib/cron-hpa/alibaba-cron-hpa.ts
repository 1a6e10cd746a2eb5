import { isDeepStrictEqual } from 'node:util';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import { type ResourceClient, retryOnConflict } from '#lib/kubernetes/client/resource-client.ts';
import { type KubernetesObject, parseJson, propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { specChangedAt } from '#lib/kubernetes/objects/managed-fields.ts';
import type { Clock } from '#lib/time/clock.ts';
import {
  type CronHpa,
  type CronHpaStatus,
  FIELD_MANAGER,
  formatStatus,
  informedCronHpas,
  MAX_SCHEDULE_LENGTH,
  readCronHpa,
  type Share,
} from './cron-hpa.ts';
import type { CronHpaKind, StatusClient } from './cron-hpa-kind.ts';
import { runsOnce } from './planned-jobs.ts';

const RESOURCE: ApiResource = {
  group: 'autoscaling.alibabacloud.com',
  version: 'v1beta1',
  kind: 'CronHorizontalPodAutoscaler',
  plural: 'cronhorizontalpodautoscalers',
  namespaced: true,
};

/**
 * The status of this controller, in JSON. The definition of the kind has no field for most of it, and the API server
 * removes unknown fields.
 */
const STATUS = 'autoscaling.stke.com/cron-hpa-status';

/** CronHorizontalPodAutoscalers of kubernetes-cronhpa-controller. */
export const ALIBABA_CRON_HPA: CronHpaKind = {
  controller: 'cronhpa-alibaba',
  resource: RESOURCE,
  informed: informedCronHpas(RESOURCE, readAlibabaCronHpa),
  read: readAlibabaCronHpa,
  openStatuses: alibabaStatusClient,
};

/**
 * Reads an object of kubernetes-cronhpa-controller as one of this controller: schedules with five fields begin with the
 * second, and `cronMode: Disable` suspends all jobs.
 *
 * @returns as {@link readCronHpa}
 */
export function readAlibabaCronHpa(value: unknown, share?: Share): CronHpa | undefined {
  const metadata = propertyOf(value, 'metadata');
  const written = propertyOf(propertyOf(metadata, 'annotations'), STATUS);
  const status = typeof written === 'string' ? parseJson(written) : undefined;
  const object = readCronHpa({ metadata, spec: convertSpec(propertyOf(value, 'spec')), status }, share);
  if (!object) return undefined;
  // Each status write counts as a generation, since the kind has no status subresource: its jobs show what has changed.
  const isObservedElsewhere = status === undefined && propertyOf(value, 'status') !== undefined;
  const specChangedAtMs = isObservedElsewhere ? undefined : specChangedAt(changeTimesOf(metadata));
  return { ...object, group: RESOURCE.group, generation: GENERATION, specChangedAtMs };
}

/** The observed generation of every object. */
const GENERATION = 1;

function changeTimesOf(metadata: unknown): Parameters<typeof specChangedAt>[0] {
  const created = propertyOf(metadata, 'creationTimestamp');
  return {
    generation: undefined,
    creationTimestamp: typeof created === 'string' ? created : undefined,
    managedFields: propertyOf(metadata, 'managedFields'),
  };
}

/** Converts a spec without validating it: the schema of the own kind does. */
function convertSpec(spec: unknown): unknown {
  if (typeof spec !== 'object' || spec === null) return spec;
  const jobs = propertyOf(spec, 'jobs');
  const isSuspended = propertyOf(spec, 'cronMode') === 'Disable';
  const excludeDates = propertyOf(spec, 'excludeDates') ?? [];
  return {
    scaleTargetRef: propertyOf(spec, 'scaleTargetRef'),
    jobs: Array.isArray(jobs) ? jobs.map((job) => convertJob(job, isSuspended)) : jobs,
    excludeDates: Array.isArray(excludeDates) ? excludeDates.map(withDayOfWeek) : excludeDates,
  };
}

function convertJob(job: unknown, suspend: boolean): unknown {
  if (typeof job !== 'object' || job === null) return job;
  return {
    name: propertyOf(job, 'name'),
    schedule: withDayOfWeek(propertyOf(job, 'schedule')),
    targetSize: propertyOf(job, 'targetSize'),
    runOnce: propertyOf(job, 'runOnce') ?? false,
    suspend,
  };
}

/** The day of the week is the optional field of that controller; here it is the second. */
function withDayOfWeek(schedule: unknown): unknown {
  if (typeof schedule !== 'string' || schedule.length > MAX_SCHEDULE_LENGTH) return schedule;
  const isFiveFields = !schedule.trim().startsWith('@') && schedule.trim().split(/\s+/).length === 5;
  return isFiveFields ? `${schedule.trim()} *` : schedule;
}

/** A client that writes the status in the form of that controller, and the own one in an annotation. */
function alibabaStatusClient(objects: ResourceClient<KubernetesObject>, clock: Clock): StatusClient {
  return {
    async get(name, signal) {
      const value = await objects.find(name, { signal });
      return value && readAlibabaCronHpa(value);
    },
    async write(object, status, signal) {
      if (isDeepStrictEqual(format(object.status), format(status))) return undefined;
      const write = async ({ uid, resourceVersion }: CronHpa) => {
        const annotations = { [STATUS]: format(status) };
        const body = {
          metadata: { uid, resourceVersion, annotations },
          status: alibabaStatus(object, status),
        };
        const options = { fieldManager: FIELD_MANAGER, signal };
        return readAlibabaCronHpa(await objects.patch(object, { type: 'merge', body }, options));
      };
      const reread = async () => {
        const value = await objects.find(object, { signal });
        const latest = value && readAlibabaCronHpa(value);
        const isSame = latest?.uid === object.uid && format(latest.status) === format(object.status);
        return isSame ? latest : undefined;
      };
      return await retryOnConflict(object, write, { reread, clock, signal });
    },
  };
}

function format(status: CronHpaStatus): string {
  return JSON.stringify(formatStatus(status));
}

/** Reasons of the condition Ready for which no job runs; that controller has no condition of an object. */
const BLOCKING: ReadonlySet<string> = new Set(['TargetConflict', 'OwnedByScaledObject']);

/** The status as kubernetes-cronhpa-controller writes it: a condition for each job, and copies of the spec. */
function alibabaStatus({ spec }: CronHpa, { jobs, ready }: CronHpaStatus): object {
  const blocker = ready && BLOCKING.has(ready.reason) ? ready.message : undefined;
  const jobOf = new Map(spec.jobs.map((job) => [job.name, job]));
  return {
    scaleTargetRef: spec.scaleTargetRef,
    excludeDates: spec.excludeDates,
    cronMode: spec.jobs.some(({ suspend }) => suspend) ? 'Disable' : 'Enable',
    conditions: jobs.map(({ name, jobId, schedule, state, message, lastProbeTime }) => {
      const job = jobOf.get(name);
      const text = blocker ?? message;
      return {
        ...{ name, jobId, schedule, lastProbeTime },
        targetSize: job?.targetSize ?? 0,
        runOnce: job !== undefined && runsOnce(job),
        state: blocker === undefined ? state : 'Failed',
        ...(text !== '' && { message: text }), // Kubernetes 1.20 makes a null of an empty text, and refuses it
      };
    }),
  };
}
