import { z } from 'zod';
import type { HpaSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { parseThousandths } from '#lib/kubernetes/quantity.ts';
import { messageOf } from '#lib/telemetry/error-text.ts';

/** A quantity in YAML: text or a number. */
export const quantitySchema = z
  .union([z.string(), z.number()], { error: 'must be a quantity such as 500m' })
  .transform((value, context) => {
    try {
      parseThousandths(String(value));
      return String(value);
    } catch (error) {
      context.addIssue({ code: 'custom', message: messageOf(error) });
      return z.NEVER;
    }
  });

const target = z.strictObject({
  type: z.enum(['Value', 'AverageValue', 'Utilization']),
  value: quantitySchema.optional(),
  averageValue: quantitySchema.optional(),
  averageUtilization: z.int().positive().optional(),
});
const metric = z.strictObject({
  name: z.string(),
  selector: z
    .strictObject({
      matchLabels: z.record(z.string(), z.string()).optional(),
      matchExpressions: z
        .array(
          z.strictObject({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() }),
        )
        .optional(),
    })
    .optional(),
});
const object = z.strictObject({ apiVersion: z.string().optional(), kind: z.string(), name: z.string() });

const metrics = z.array(
  z.discriminatedUnion(
    'type',
    [
      z.strictObject({ type: z.literal('Resource'), resource: z.strictObject({ name: z.string(), target }) }),
      z.strictObject({
        type: z.literal('ContainerResource'),
        containerResource: z.strictObject({ name: z.string(), container: z.string(), target }),
      }),
      z.strictObject({ type: z.literal('Pods'), pods: z.strictObject({ metric, target }) }),
      z.strictObject({
        type: z.literal('Object'),
        object: z.strictObject({ describedObject: object, metric, target }),
      }),
      z.strictObject({ type: z.literal('External'), external: z.strictObject({ metric, target }) }),
    ],
    { error: 'must be Resource, ContainerResource, Pods, Object or External' },
  ),
);

const rules = z.strictObject({
  stabilizationWindowSeconds: z.int().min(0).max(3600).optional(),
  selectPolicy: z.enum(['Max', 'Min', 'Disabled']).optional(),
  policies: z
    .array(
      z.strictObject({
        type: z.enum(['Pods', 'Percent']),
        value: z.int().positive(),
        periodSeconds: z.int().positive().max(1800),
      }),
    )
    .min(1)
    .optional(),
  tolerance: quantitySchema.optional(),
});

/** Whether a metric has values while its target has no pods. */
function isWithoutPods({ type }: { readonly type: string }): boolean {
  return type === 'Object' || type === 'External';
}

/** Within the bounds of the API. */
const hpaSpecSchema = z
  .strictObject({
    scaleTargetRef: object,
    minReplicas: z.int().min(0).optional(),
    maxReplicas: z.int().positive(),
    metrics: metrics.optional(),
    behavior: z.strictObject({ scaleUp: rules.optional(), scaleDown: rules.optional() }).optional(),
  })
  .refine(({ minReplicas = 1, maxReplicas }) => minReplicas <= maxReplicas, {
    message: 'minReplicas exceeds maxReplicas',
  })
  .refine(({ minReplicas = 1, metrics: all = [] }) => minReplicas !== 0 || all.some(isWithoutPods), {
    path: ['minReplicas'],
    message:
      'must be at least 1 without an Object or External metric; with one, 0 needs the feature gate HPAScaleToZero of an API server before Kubernetes 1.37',
  })
  // zod marks fields that may be undefined as optional; an absent field and an undefined one are equal here.
  .transform((spec) => spec as HpaSpec);

/**
 * An `autoscaling/v2` HPA as in manifests and `kubectl get --output=yaml`. Unknown fields that decisions would depend on
 * are rejected, as in kubectl: a misspelled rule must not be ignored silently.
 */
export const hpaSchema = z.strictObject({
  apiVersion: z.literal('autoscaling/v2', { error: 'must be autoscaling/v2' }).optional(),
  kind: z.literal('HorizontalPodAutoscaler', { error: 'must be HorizontalPodAutoscaler' }).optional(),
  metadata: z.object({ name: z.string(), namespace: z.string().default('default') }),
  spec: hpaSpecSchema,
  status: z.unknown().optional().describe('The last decision; ignored'),
});
