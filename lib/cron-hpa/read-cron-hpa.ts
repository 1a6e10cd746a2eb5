import * as z from 'zod/mini';
import type { CronHpa, CronHpaStatus } from './cron-hpa.ts';

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

const OBJECT = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    generation: z.optional(z.int()),
    annotations: z._default(z.record(z.string(), z.string()), {}),
    deletionTimestamp: z.optional(z.string()),
  }),
  spec: z.object({
    scaleTargetRef: TARGET,
    jobs: z.array(JOB).check(z.maxLength(MOST_JOBS)),
    excludeDates: DATES,
    startingDeadlineSeconds: z.optional(z.int().check(z.nonnegative())),
  }),
  status: z.optional(z.unknown()),
});

/**
 * Takes what the API server sent for a CronHorizontalPodAutoscaler.
 *
 * @returns `undefined` for what its schema does not allow; a status that somebody has spoilt counts as none
 */
export function readCronHpa(value: unknown): CronHpa | undefined {
  const read = OBJECT.safeParse(value);
  if (!read.success) return undefined;
  const { metadata, spec, status } = read.data;
  const { deletionTimestamp, name, namespace, uid, resourceVersion, generation, annotations } = metadata;
  const isBeingDeleted = deletionTimestamp !== undefined;
  return {
    ...{ name, namespace, uid, resourceVersion, generation, annotations, isBeingDeleted, spec },
    status: readStatus(status),
  };
}

function readStatus(value: unknown): CronHpaStatus {
  const read = STATUS.safeParse(value ?? {});
  if (!read.success) return { jobs: [], scaleUpKeepWindow: false };
  const { conditions, ...rest } = read.data;
  return {
    ...rest,
    jobs: conditions.flatMap((condition) => JOB_CONDITION.safeParse(condition).data ?? []),
    ready: conditions
      .map((condition) => READY.safeParse(condition).data)
      .find((ready) => ready !== undefined),
  };
}

/**
 * The status as the API server takes it: one list holds the jobs' conditions and the standard one.
 *
 * An empty message is left out: in an item of an atomic list, server-side apply of Kubernetes 1.20 makes a null of it, which
 * the schema refuses.
 */
export function formatStatus({ jobs, ready, ...rest }: CronHpaStatus): Record<string, unknown> {
  const conditions = jobs.map(({ message, ...job }) => (message === '' ? job : { ...job, message }));
  return { ...rest, conditions: [...conditions, ...(ready ? [ready] : [])] };
}
