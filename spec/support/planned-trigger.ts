import type { Trigger, TriggerRequest } from '#lib/scaled-objects/triggers/trigger.ts';
import type { TriggerEnvironment } from '#lib/scaled-objects/triggers/trigger-environment.ts';

/** The part of an environment that opens sources, for a trigger that opens this one. */
export function opening<Source>(source: Source): Pick<TriggerEnvironment, 'open'> {
  return { open: () => source as never };
}

/** Plans a trigger, with defaults for what the spec does not set. */
export async function planned(trigger: Trigger, request: Partial<TriggerRequest>) {
  const type = request.type ?? trigger.types[0] ?? '';
  const plan = await trigger.plan(
    {
      type,
      scaler: trigger.scalerName(type),
      namespace: 'default',
      objectKind: 'ScaledObject',
      objectName: 'web',
      metricType: undefined,
      hasFormula: false,
      metadata: {},
      authentication: {},
      environment: {},
      ...request,
    },
    new AbortController().signal,
  );
  if (plan.kind !== 'external') throw new Error('it asks nobody');
  const [metric] = plan.metrics;
  if (!metric) throw new Error('it has no metric');
  return {
    ...metric,
    async send() {
      const samples = await metric.query.run(new AbortController().signal);
      const { values, isActive } = metric.evaluate(samples);
      return { value: values[0], isActive };
    },
  };
}
