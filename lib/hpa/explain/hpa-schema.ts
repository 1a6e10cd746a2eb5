import { z } from 'zod';
import type { HpaSpec } from '../objects/horizontal-pod-autoscaler.ts';
import { parseThousandths } from '../quantities/parse-quantity.ts';

/** A quantity as users write it: text, or a number in YAML. */
export const quantitySchema = z
  .union([z.string(), z.number()], { error: 'must be a quantity such as 500m' })
  .transform((value, context) => {
    try {
      parseThousandths(String(value));
      return String(value);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  });

const target = z.object({
  type: z.enum(['Value', 'AverageValue', 'Utilization']),
  value: quantitySchema.optional(),
  averageValue: quantitySchema.optional(),
  averageUtilization: z.int().positive().optional(),
});
const metric = z.object({
  name: z.string(),
  selector: z
    .object({
      matchLabels: z.record(z.string(), z.string()).optional(),
      matchExpressions: z
        .array(z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() }))
        .optional(),
    })
    .optional(),
});
const object = z.object({ apiVersion: z.string().optional(), kind: z.string(), name: z.string() });

const metrics = z.array(
  z.discriminatedUnion(
    'type',
    [
      z.object({ type: z.literal('Resource'), resource: z.object({ name: z.string(), target }) }),
      z.object({
        type: z.literal('ContainerResource'),
        containerResource: z.object({ name: z.string(), container: z.string(), target }),
      }),
      z.object({ type: z.literal('Pods'), pods: z.object({ metric, target }) }),
      z.object({ type: z.literal('Object'), object: z.object({ describedObject: object, metric, target }) }),
      z.object({ type: z.literal('External'), external: z.object({ metric, target }) }),
    ],
    { error: 'must be Resource, ContainerResource, Pods, Object or External' },
  ),
);

const rules = z.object({
  stabilizationWindowSeconds: z.int().min(0).max(3600).optional(),
  selectPolicy: z.enum(['Max', 'Min', 'Disabled']).optional(),
  policies: z
    .array(
      z.object({
        type: z.enum(['Pods', 'Percent']),
        value: z.int().positive(),
        periodSeconds: z.int().positive().max(1800),
      }),
    )
    .min(1)
    .optional(),
  tolerance: quantitySchema.optional(),
});

/** The spec of an `autoscaling/v2` HPA as far as deciding needs it, within the bounds that the API sets. */
export const hpaSpecSchema = z
  .object({
    scaleTargetRef: object,
    minReplicas: z.int().min(0).optional(),
    maxReplicas: z.int().positive(),
    metrics: metrics.optional(),
    behavior: z.object({ scaleUp: rules.optional(), scaleDown: rules.optional() }).optional(),
  })
  .refine(({ minReplicas = 1, maxReplicas }) => minReplicas <= maxReplicas, {
    message: 'minReplicas exceeds maxReplicas',
  })
  // zod calls optional what may be undefined; nothing here tells such a field from an absent one.
  .transform((spec) => spec as HpaSpec);
