import * as z from 'zod';

/** Target type of a metric, as in autoscaling/v2. */
export type MetricType = 'AverageValue' | 'Value' | 'Utilization';

/** Fields that are read besides the metadata, which the API server validates for every kind. Others are not removed. */
export interface ObjectSchema {
  readonly spec: z.ZodType;
  readonly status: z.ZodType;
}

const text = z.string().optional();
const texts = z.record(z.string(), z.string()).optional();
const count = z.int32().optional();
const flag = z.boolean().optional();
/** Its values are checked where it is used. */
const metricType = text as unknown as z.ZodOptional<z.ZodType<MetricType>>;

const TRIGGERS = z.array(
  z.object({
    type: z.string(),
    name: text,
    metadata: z.record(z.string(), z.string()),
    useCachedMetrics: flag,
    metricType,
    authenticationRef: z.object({ name: z.string(), kind: text }).optional(),
  }),
);
const OBSERVED = {
  lastActiveTime: text,
  conditions: z
    .array(z.object({ type: z.string(), status: z.string(), reason: text, message: text }))
    .optional(),
  externalMetricNames: z.array(z.string()).optional(),
  triggersActivity: z.record(z.string(), z.object({ isActive: flag })).optional(),
  ...{ triggersTypes: text, authenticationsTypes: text },
};

export const SCALED_OBJECT_SCHEMA = {
  spec: z.object({
    scaleTargetRef: z.object({
      ...{ name: z.string(), apiVersion: text, kind: text, envSourceContainerName: text },
    }),
    ...{ pollingInterval: count, initialCooldownPeriod: count, cooldownPeriod: count },
    ...{ idleReplicaCount: count, minReplicaCount: count, maxReplicaCount: count },
    advanced: z
      .object({
        restoreToOriginalReplicaCount: flag,
        horizontalPodAutoscalerConfig: z
          .object({
            name: text,
            behavior: z
              .object({
                scaleUp: z.looseObject({}).optional(),
                scaleDown: z.looseObject({}).optional(),
              })
              .optional(),
          })
          .optional(),
        scalingModifiers: z
          .object({ formula: text, target: text, activationTarget: text, metricType })
          .optional(),
      })
      .optional(),
    triggers: TRIGGERS,
    fallback: z.object({ failureThreshold: z.int32(), replicas: z.int32(), behavior: text }).optional(),
  }),
  status: z.object({
    ...OBSERVED,
    scaleTargetKind: text,
    scaleTargetGVKR: z.object({ group: text, version: text, kind: text, resource: text }).optional(),
    ...{ originalReplicaCount: count, pausedReplicaCount: count },
    resourceMetricNames: z.array(z.string()).optional(),
    ...{ compositeScalerName: text, hpaName: text },
    health: z.record(z.string(), z.object({ numberOfFailures: count, status: text })).optional(),
  }),
} satisfies ObjectSchema;

/** The API server validates `jobTargetRef` when a Job is created from it. */
export const SCALED_JOB_SCHEMA = {
  spec: z.object({
    jobTargetRef: z
      .looseObject({
        template: z
          .object({
            metadata: z.looseObject({ labels: texts }).optional(),
            spec: z.looseObject({}).optional(),
          })
          .optional(),
      })
      .optional(), // checked separately, with KEDA's message
    ...{ pollingInterval: count, successfulJobsHistoryLimit: count, failedJobsHistoryLimit: count },
    ...{ minReplicaCount: count, maxReplicaCount: count },
    ...{ rolloutStrategy: text, envSourceContainerName: text },
    rollout: z.object({ strategy: text, propagationPolicy: text }).optional(),
    scalingStrategy: z
      .object({
        ...{ strategy: text, multipleScalersCalculation: text },
        ...{ customScalingQueueLengthDeduction: count, customScalingRunningJobPercentage: text },
        pendingPodConditions: z.array(z.string()).optional(),
      })
      .optional(),
    triggers: TRIGGERS,
  }),
  status: z.object({ ...OBSERVED, Paused: text }),
} satisfies ObjectSchema;

const KEYS = z.array(z.object({ parameter: z.string(), name: z.string(), key: z.string() })).optional();
const VAULT = z.looseObject({}).optional();

export const TRIGGER_AUTHENTICATION_SCHEMA = {
  spec: z
    .object({
      podIdentity: z
        .object({
          provider: z.string(),
          ...{ identityId: text, identityTenantId: text, identityAuthorityHost: text },
          ...{ roleArn: text, externalID: text, identityOwner: text },
        })
        .optional(),
      ...{ secretTargetRef: KEYS, configMapTargetRef: KEYS, filePath: text },
      env: z.array(z.object({ parameter: z.string(), name: z.string(), containerName: text })).optional(),
      boundServiceAccountToken: z
        .array(z.object({ parameter: z.string(), serviceAccountName: z.string() }))
        .optional(),
      oauth2: z.object({ type: text, clientId: text, tokenUrl: text }).optional(),
      ...{ hashiCorpVault: VAULT, azureKeyVault: VAULT, gcpSecretManager: VAULT, awsSecretManager: VAULT },
    })
    .optional(),
  status: z.object({ scaledobjects: text, scaledjobs: text }),
} satisfies ObjectSchema;
