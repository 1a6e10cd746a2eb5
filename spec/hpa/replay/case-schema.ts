import { z } from 'zod';
import type { RecordedCase } from './recorded-case.ts';

// Absent values are null, empty or false, as in the recording. Values are not validated further: they are as recorded.

const number = z.number();
const text = z.string();
const amounts = z.record(z.string(), z.union([z.string(), z.number().transform(String)]));
const nullable = number.nullish().transform((value) => value ?? null);
const isSet = z.boolean().default(false);

const reference = z.looseObject({ kind: text, name: text });
const target = z.looseObject({ type: text });
const named = z.looseObject({ metric: z.looseObject({ name: text }), target });
const ofResource = z.looseObject({ name: text, target });
const metric = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('Resource'), resource: ofResource }),
  z.looseObject({ type: z.literal('ContainerResource'), containerResource: ofResource }),
  z.looseObject({ type: z.literal('Pods'), pods: named }),
  z.looseObject({ type: z.literal('Object'), object: named.extend({ describedObject: reference }) }),
  z.looseObject({ type: z.literal('External'), external: named }),
]);
const rules = z.looseObject({
  policies: z.array(z.looseObject({ type: text, value: number, periodSeconds: number })).optional(),
});
const spec = z.looseObject({
  scaleTargetRef: reference,
  maxReplicas: number,
  minReplicas: number.optional(),
  metrics: z.array(metric).optional(),
  behavior: z.looseObject({ scaleUp: rules.optional(), scaleDown: rules.optional() }).optional(),
});
const status = z.looseObject({
  currentReplicas: number.default(0),
  desiredReplicas: number.default(0),
  currentMetrics: z.array(z.looseObject({ type: text })).nullish(),
  conditions: z.array(z.looseObject({ type: text, status: text })).optional(),
});

const container = z.looseObject({ name: text, requests: amounts.optional() });
const pod = z.looseObject({
  name: text,
  labels: z.record(z.string(), z.string()).default({}),
  phase: text.default(''),
  ready: z.union([z.boolean(), z.literal('Unknown'), z.null()]).default(null),
  startedAgeSeconds: nullable,
  readyTransitionAgeSeconds: nullable,
  containers: z.array(container).default([]),
  initContainers: z.array(container).optional(),
  podLevelRequests: amounts.optional(),
  overhead: amounts.optional(),
});
const usage = z.looseObject({
  containers: z.record(z.string(), z.string()).default({}),
  ageSeconds: number,
  windowSeconds: number,
});
const metrics = z.looseObject({
  resource: z.record(z.string(), z.record(z.string(), usage)).optional(),
  pods: z.record(z.string(), z.record(z.string(), z.string())).optional(),
  objects: z.record(z.string(), z.string()).optional(),
  external: z.record(z.string(), z.array(z.string())).optional(),
  errors: z.record(z.string(), z.string()).optional(),
});

const event = z.looseObject({ change: number, ageSeconds: number });
const history = z.looseObject({
  recommendations: z.array(z.looseObject({ replicas: number, ageSeconds: number })).optional(),
  scaleUpEvents: z.array(event).optional(),
  scaleDownEvents: z.array(event).optional(),
});
const reported = z.object({ type: text, reason: text, message: text });

/** One line of a file of recorded decisions. */
export const caseSchema = z
  .looseObject({
    id: text,
    group: text.default(''),
    config: z.looseObject({
      tolerance: number,
      cpuInitializationPeriodSeconds: number,
      initialReadinessDelaySeconds: number,
      downscaleStabilisationSeconds: number,
    }),
    hpa: z.looseObject({ spec, submittedSpec: z.looseObject({}).optional(), status: status.optional() }),
    otherHpas: z.array(z.looseObject({ name: text, namespace: text, selector: text.default('') })).optional(),
    scale: z.looseObject({
      specReplicas: number.default(0),
      statusReplicas: number.default(0),
      selector: text.default(''),
      getError: text.optional(),
      updateError: text.optional(),
      updateConflicts: number.optional(),
    }),
    pods: z.array(pod).default([]),
    metrics: metrics.default({}),
    history: history.default({}),
    expected: z.object({
      desiredReplicas: nullable,
      status: z.object({
        currentReplicas: number.default(0),
        desiredReplicas: number.default(0),
        currentMetrics: z
          .array(z.unknown())
          .nullish()
          .transform((value) => value ?? null),
        conditions: z.array(z.unknown()).default([]),
      }),
      statusWritten: isSet,
      lastScaleTimeSet: isSet,
      events: z.array(reported).default([]),
      error: text.optional(),
      historyAfter: z
        .object({
          recommendations: z.array(z.unknown()).default([]),
          scaleUpEvents: z.array(z.unknown()).default([]),
          scaleDownEvents: z.array(z.unknown()).default([]),
        })
        .prefault({}),
    }),
  })
  .transform((read) => read as unknown as RecordedCase);
