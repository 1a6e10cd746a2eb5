import * as z from 'zod';

/** Fields that are read besides the metadata, which the API server validates for every kind. */
export interface ObjectSchema {
  readonly spec: z.ZodType;
  readonly status: z.ZodType;
}

const text = z.string().optional();
const texts = z.record(z.string(), z.string()).optional();
const count = z.int32().optional();
const flag = z.boolean().optional();

const TRIGGERS = z.array(
  z.looseObject({
    type: z.string(),
    name: text,
    metadata: z.record(z.string(), z.string()),
    useCachedMetrics: flag,
    metricType: text,
    authenticationRef: z.looseObject({ name: z.string(), kind: text }).optional(),
  }),
);
const OBSERVED = {
  lastActiveTime: text,
  conditions: z
    .array(z.looseObject({ type: z.string(), status: z.string(), reason: text, message: text }))
    .optional(),
  externalMetricNames: z.array(z.string()).optional(),
  triggersActivity: z.record(z.string(), z.looseObject({ isActive: flag })).optional(),
  ...{ triggersTypes: text, authenticationsTypes: text },
};

export const SCALED_OBJECT_SCHEMA: ObjectSchema = {
  spec: z.looseObject({
    scaleTargetRef: z.looseObject({
      ...{ name: z.string(), apiVersion: text, kind: text, envSourceContainerName: text },
    }),
    ...{ pollingInterval: count, initialCooldownPeriod: count, cooldownPeriod: count },
    ...{ idleReplicaCount: count, minReplicaCount: count, maxReplicaCount: count },
    advanced: z
      .looseObject({
        restoreToOriginalReplicaCount: flag,
        horizontalPodAutoscalerConfig: z
          .looseObject({
            name: text,
            behavior: z
              .looseObject({
                scaleUp: z.looseObject({}).optional(),
                scaleDown: z.looseObject({}).optional(),
              })
              .optional(),
          })
          .optional(),
        scalingModifiers: z
          .looseObject({ formula: text, target: text, activationTarget: text, metricType: text })
          .optional(),
      })
      .optional(),
    triggers: TRIGGERS,
    fallback: z.looseObject({ failureThreshold: z.int32(), replicas: z.int32(), behavior: text }).optional(),
  }),
  status: z.looseObject({
    ...OBSERVED,
    scaleTargetKind: text,
    scaleTargetGVKR: z.looseObject({ group: text, version: text, kind: text, resource: text }).optional(),
    ...{ originalReplicaCount: count, pausedReplicaCount: count },
    resourceMetricNames: z.array(z.string()).optional(),
    ...{ compositeScalerName: text, hpaName: text },
    health: z.record(z.string(), z.looseObject({ numberOfFailures: count, status: text })).optional(),
  }),
};

/** The API server validates `jobTargetRef` when a Job is created from it. */
export const SCALED_JOB_SCHEMA: ObjectSchema = {
  spec: z.looseObject({
    jobTargetRef: z
      .looseObject({
        template: z
          .looseObject({
            metadata: z.looseObject({ labels: texts }).optional(),
            spec: z.looseObject({}).optional(),
          })
          .optional(),
      })
      .optional(), // checked separately, with KEDA's message
    ...{ pollingInterval: count, successfulJobsHistoryLimit: count, failedJobsHistoryLimit: count },
    ...{ minReplicaCount: count, maxReplicaCount: count },
    ...{ rolloutStrategy: text, envSourceContainerName: text },
    rollout: z.looseObject({ strategy: text, propagationPolicy: text }).optional(),
    scalingStrategy: z
      .looseObject({
        ...{ strategy: text, multipleScalersCalculation: text },
        ...{ customScalingQueueLengthDeduction: count, customScalingRunningJobPercentage: text },
        pendingPodConditions: z.array(z.string()).optional(),
      })
      .optional(),
    triggers: TRIGGERS,
  }),
  status: z.looseObject({ ...OBSERVED, Paused: text }),
};

const KEYS = z.array(z.looseObject({ parameter: z.string(), name: z.string(), key: z.string() })).optional();
const VAULT = z.looseObject({}).optional();

export const TRIGGER_AUTHENTICATION_SCHEMA: ObjectSchema = {
  spec: z
    .looseObject({
      podIdentity: z
        .looseObject({
          provider: z.string(),
          ...{ identityId: text, identityTenantId: text, identityAuthorityHost: text },
          ...{ roleArn: text, externalID: text, identityOwner: text },
        })
        .optional(),
      ...{ secretTargetRef: KEYS, configMapTargetRef: KEYS, filePath: text },
      env: z
        .array(z.looseObject({ parameter: z.string(), name: z.string(), containerName: text }))
        .optional(),
      boundServiceAccountToken: z
        .array(z.looseObject({ parameter: z.string(), serviceAccountName: z.string() }))
        .optional(),
      oauth2: z.looseObject({ type: text, clientId: text, tokenUrl: text }).optional(),
      ...{ hashiCorpVault: VAULT, azureKeyVault: VAULT, gcpSecretManager: VAULT, awsSecretManager: VAULT },
    })
    .optional(),
  status: z.looseObject({ scaledobjects: text, scaledjobs: text }),
};
