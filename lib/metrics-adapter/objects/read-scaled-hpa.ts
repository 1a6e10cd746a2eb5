import * as z from 'zod/mini';
import { isConfigKey, isMisspeltConfigKey } from './config-key.ts';
import type { HpaMetric, ScaledHpa } from './scaled-hpa.ts';

const IDENTIFIER = z.object({
  name: z.string(),
  selector: z.optional(
    z.nullable(
      z.object({
        matchLabels: z._default(z.record(z.string(), z.string()), {}),
        matchExpressions: z._default(z.array(z.object({ key: z.string() })), []),
      }),
    ),
  ),
});
const REFERENCE = z.object({ apiVersion: z.optional(z.string()), kind: z.string(), name: z.string() });

const TARGET = z.object({ averageValue: z.optional(z.unknown()) });

const METRIC = z.union([
  z.object({ type: z.literal('Pods'), pods: z.object({ metric: IDENTIFIER }) }),
  z.object({
    type: z.literal('Object'),
    object: z.object({ metric: IDENTIFIER, describedObject: REFERENCE, target: z.optional(TARGET) }),
  }),
  z.object({ type: z.literal('External'), external: z.object({ metric: IDENTIFIER }) }),
  z.object({ type: z.string() }), // of the resource metrics API, or of a later Kubernetes
]);

const HPA = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    uid: z._default(z.string(), ''),
    creationTimestamp: z._default(z.nullable(z.string()), ''),
    annotations: z._default(z.record(z.string(), z.string()), {}),
  }),
  spec: z.object({ scaleTargetRef: REFERENCE, metrics: z._default(z.nullable(z.array(METRIC)), []) }),
  status: z.optional(
    z.object({ currentReplicas: z.optional(z.int()), desiredReplicas: z.optional(z.int()) }),
  ),
});
type Status = z.infer<typeof HPA>['status'];

/**
 * Takes what the API server sent for a HorizontalPodAutoscaler of version v2 or v2beta2.
 *
 * @returns `undefined` for what is none, and for one that neither asks for a metric that is collected nor configures one
 */
export function readScaledHpa(value: unknown): ScaledHpa | undefined {
  const read = HPA.safeParse(value);
  if (!read.success) return undefined;
  const { metadata, spec, status } = read.data;
  const metrics = (spec.metrics ?? []).map(metricOf).filter((metric) => metric !== undefined);
  const { annotations: all, creationTimestamp, ...named } = metadata;
  const annotations = Object.fromEntries(
    Object.entries(all).filter(([key]) => isConfigKey(key) || isMisspeltConfigKey(key)),
  );
  // One that configures metrics without asking for any is told of that.
  if (metrics.length === 0 && Object.keys(annotations).length === 0) return undefined;
  return {
    ...named,
    createdAt: creationTimestamp ?? '',
    annotations,
    scaleTargetRef: spec.scaleTargetRef,
    replicas: replicasIn(status),
    metrics,
  };
}

/**
 * The controller writes what it counted before it scales, and reads the metric again once the pods are there: divided by
 * the earlier count, what each of them gets would be told too high, and it would scale up once more.
 */
function replicasIn({ currentReplicas, desiredReplicas }: NonNullable<Status> = {}): number | undefined {
  if (currentReplicas === undefined) return desiredReplicas;
  return Math.max(currentReplicas, desiredReplicas ?? 0);
}

function metricOf(metric: z.infer<typeof METRIC>): HpaMetric | undefined {
  if ('pods' in metric) return { type: 'Pods', ...identified(metric.pods.metric) };
  if ('external' in metric) return { type: 'External', ...identified(metric.external.metric) };
  if (!('object' in metric)) return undefined;
  const { describedObject, target } = metric.object;
  const targetsAverage = target?.averageValue !== undefined && target.averageValue !== null;
  return { type: 'Object', ...identified(metric.object.metric), describedObject, targetsAverage };
}

function identified({
  name,
  selector,
}: z.infer<typeof IDENTIFIER>): Pick<HpaMetric, 'name' | 'matchLabels' | 'expressionKeys'> {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  const expressionKeys = matchExpressions.map(({ key }) => key);
  return { name, matchLabels, ...(expressionKeys.length > 0 && { expressionKeys }) };
}
