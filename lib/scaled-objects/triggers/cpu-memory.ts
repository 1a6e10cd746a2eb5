import { z } from 'zod';
import { Quantity } from '#lib/kubernetes/quantity.ts';
import { parameter, text } from './parameters/parameter.ts';
import { defineTrigger, type Trigger } from './trigger.ts';

const parameters = z.object({
  value: parameter(
    text,
    'Target per pod: with metricType Utilization, a percentage of the resource requests; with AverageValue, a quantity.',
  ),
  containerName: parameter(
    text.optional(),
    'Container whose usage is measured. By default, all containers of the pod.',
  ),
  type: parameter(text.optional(), 'No longer supported: set metricType of the trigger instead.'),
});

const MAX_PERCENT = 2 ** 31 - 1;

/** CPU or memory of the target's pods, which the HPA controller reads. */
export function resourceTrigger(resource: 'cpu' | 'memory'): Trigger {
  return defineTrigger({
    types: [resource],
    scalerName: () => 'cpuMemoryScaler',
    description: `The ${resource === 'cpu' ? 'CPU' : 'memory'} usage of the target's pods. The HPA controller reads it from metrics.k8s.io.`,
    parameters,
    plan({ value, containerName, type }, request) {
      if (type !== undefined)
        throw new Error(
          `the 'type' setting is DEPRECATED and is removed in v2.18 - Use 'metricType' instead.`,
        );
      const target = targetOf(value.trim(), request.metricType);
      return { kind: 'resource', metric: { resource, containerName, target } };
    },
  });
}

function targetOf(value: string, metricType: string | undefined) {
  if (metricType === 'Utilization') {
    const percent = Number(value);
    if (!/^\d{1,10}$/.test(value) || percent > MAX_PERCENT)
      throw new Error(`unable to set param "value" value "${value.slice(0, 100)}": not a whole percentage`);
    return { type: 'Utilization', averageUtilization: percent } as const;
  }
  if (metricType === 'AverageValue') {
    const quantity = Quantity.parse(value);
    if (!quantity)
      throw new Error(`unable to set param "value" value "${value.slice(0, 100)}": not a quantity`);
    return { type: 'AverageValue', averageValue: quantity.toString() } as const;
  }
  throw new Error(
    `unknown metric type: ${metricType ?? ''}, allowed values are 'Utilization' or 'AverageValue'`,
  );
}
