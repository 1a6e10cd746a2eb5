import * as z from 'zod/mini';
import { isDnsLabel } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { ScaledJob } from '../api/scaled-job.ts';
import type { ScaledObject } from '../api/scaled-object.ts';
import type { TriggerAuthentication } from '../api/trigger-authentication.ts';
import { UnreadableReview } from './unreadable-review.ts';

const text = z.optional(z.string());
const number = z.optional(z.number());
const texts = z.optional(z.record(z.string(), z.string()));
/** The longest name of an object, which is a DNS subdomain. */
const LONGEST_NAME = 253;
/** A UUID or a time is far shorter. */
const LONGEST_STAMP = 100;
const stamp = z.string().check(z.maxLength(LONGEST_STAMP));
/** Bounded as API servers do it: some of this is remembered, and asked for. */
const METADATA = z.looseObject({
  name: z.string().check(z.maxLength(LONGEST_NAME)),
  namespace: z.optional(z.string().check(z.refine(isDnsLabel))),
  uid: z.optional(stamp),
  creationTimestamp: z.nullish(stamp),
  deletionTimestamp: z.nullish(stamp),
  annotations: texts,
  finalizers: z.optional(z.array(z.string())),
});
const TRIGGER = z.looseObject({
  type: z.string(),
  name: text,
  metadata: z._default(z.record(z.string(), z.string()), {}),
  useCachedMetrics: z.optional(z.boolean()),
  metricType: text,
});
const TRIGGERS = z._default(z.array(TRIGGER), []);
const SCALED_OBJECT = z.looseObject({
  metadata: METADATA,
  spec: z.looseObject({
    scaleTargetRef: z.looseObject({ name: z.string(), apiVersion: text, kind: text }),
    ...{ minReplicaCount: number, maxReplicaCount: number, idleReplicaCount: number },
    ...{ pollingInterval: number, cooldownPeriod: number },
    advanced: z.optional(
      z.looseObject({
        horizontalPodAutoscalerConfig: z.optional(z.looseObject({ name: text })),
        scalingModifiers: z.optional(
          z.looseObject({ formula: text, target: text, activationTarget: text, metricType: text }),
        ),
      }),
    ),
    triggers: TRIGGERS,
    fallback: z.optional(
      z.looseObject({ failureThreshold: z.number(), replicas: z.number(), behavior: text }),
    ),
  }),
});
const SCALED_JOB = z.looseObject({ metadata: METADATA, spec: z.looseObject({ triggers: TRIGGERS }) });
const AUTHENTICATION = z.looseObject({
  metadata: METADATA,
  spec: z._default(
    z.looseObject({
      podIdentity: z.optional(
        z.looseObject({
          provider: z.string(),
          ...{ identityId: text, identityTenantId: text, identityAuthorityHost: text },
          ...{ roleArn: text, externalID: text, identityOwner: text },
        }),
      ),
      oauth2: z.optional(z.looseObject({ type: text, clientId: text, tokenUrl: text })),
    }),
    {},
  ),
});

/** Takes what a review has for an object of a kind: who sends it need not be an API server. @throws {UnreadableReview} where it is none */
export const reviewed = {
  scaledObject: (value: unknown) => take(SCALED_OBJECT, 'ScaledObject', value) as unknown as ScaledObject,
  scaledJob: (value: unknown) => take(SCALED_JOB, 'ScaledJob', value) as unknown as ScaledJob,
  authentication: (value: unknown) =>
    take(AUTHENTICATION, 'TriggerAuthentication', value) as unknown as TriggerAuthentication,
};

function take<T>(schema: z.ZodMiniType<T>, kind: string, value: unknown): T {
  const { success, data } = z.safeParse(schema, value);
  if (!success) throw new UnreadableReview(`the object of the request is no ${kind}`);
  return data;
}
