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
export type JobState = 'Submitted' | 'Succeed' | 'Failed';

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
export interface ReadyCondition {
  readonly type: 'Ready';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number | undefined;
  readonly lastTransitionTime: string;
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
