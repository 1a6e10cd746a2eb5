import * as z from 'zod';

// What HPAs of the API server must have so that they can be decided on. Bounds are the API server's to check, and fields
// and types of metrics that a later Kubernetes has stay: hpa/explain has the strict schema of manifests that users write.

const text = z.string().optional();
const count = z.int32().optional();

const REFERENCE = z.looseObject({ apiVersion: text, kind: z.string(), name: z.string() });
const SELECTOR = z.looseObject({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z
    .array(z.looseObject({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() }))
    .optional(),
});
const METRIC = z.looseObject({ name: z.string(), selector: SELECTOR.optional() });
const TARGET = z.looseObject({
  type: z.string(),
  value: text,
  averageValue: text,
  averageUtilization: count,
});
const CURRENT = z.looseObject({ value: text, averageValue: text, averageUtilization: count });

/** Which field of a metric has its source. */
const SOURCES: ReadonlyMap<string, string> = new Map([
  ['Resource', 'resource'],
  ['ContainerResource', 'containerResource'],
  ['Pods', 'pods'],
  ['Object', 'object'],
  ['External', 'external'],
]);

/** A metric of `autoscaling/v2`; one of a type that is not known has any other fields. */
export const METRIC_SPEC_SCHEMA = z
  .looseObject({
    type: z.string(),
    resource: z.looseObject({ name: z.string(), target: TARGET }).optional(),
    containerResource: z.looseObject({ name: z.string(), container: z.string(), target: TARGET }).optional(),
    pods: z.looseObject({ metric: METRIC, target: TARGET }).optional(),
    object: z.looseObject({ metric: METRIC, describedObject: REFERENCE, target: TARGET }).optional(),
    external: z.looseObject({ metric: METRIC, target: TARGET }).optional(),
  })
  .check(({ value, issues }) => {
    const source = SOURCES.get(value.type);
    if (source === undefined || value[source] !== undefined) return;
    issues.push({ code: 'custom', path: [source], message: 'expected object', input: value });
  });

/** The current value of a metric; of one that failed only an empty type. */
export const METRIC_STATUS_SCHEMA = z.looseObject({
  type: z.string(),
  resource: z.looseObject({ name: z.string(), current: CURRENT }).optional(),
  containerResource: z.looseObject({ name: z.string(), container: z.string(), current: CURRENT }).optional(),
  pods: z.looseObject({ metric: METRIC, current: CURRENT }).optional(),
  object: z.looseObject({ metric: METRIC, describedObject: REFERENCE, current: CURRENT }).optional(),
  external: z.looseObject({ metric: METRIC, current: CURRENT }).optional(),
});

const RULES = z.looseObject({
  stabilizationWindowSeconds: z.int32().nullish(),
  selectPolicy: z.string().nullish(),
  policies: z
    .array(z.looseObject({ type: z.string(), value: z.int32(), periodSeconds: z.int32() }))
    .nullish(),
  tolerance: z.string().nullish(),
});

export const BEHAVIOR_SCHEMA = z.looseObject({ scaleUp: RULES.nullish(), scaleDown: RULES.nullish() });

export const CONDITION_SCHEMA = z.looseObject({
  ...{ type: z.string(), status: z.string(), reason: text, message: text },
  lastTransitionTime: z.string().nullish(),
});

/** The spec of `autoscaling/v2` and v2beta2; what is null was not written. */
export const HPA_SPEC_SCHEMA = z.looseObject({
  scaleTargetRef: REFERENCE,
  minReplicas: z.int32().nullish(),
  maxReplicas: z.int32(),
  metrics: z.array(METRIC_SPEC_SCHEMA).nullish(),
  behavior: BEHAVIOR_SCHEMA.nullish(),
});

/** The status of the same; v2beta2 writes null for empty lists. */
export const HPA_STATUS_SCHEMA = z
  .looseObject({
    ...{ currentReplicas: count, desiredReplicas: count, observedGeneration: z.int().optional() },
    lastScaleTime: z.string().nullish(),
    currentMetrics: z.array(METRIC_STATUS_SCHEMA).nullish(),
    conditions: z.array(CONDITION_SCHEMA).nullish(),
  })
  .nullish();
