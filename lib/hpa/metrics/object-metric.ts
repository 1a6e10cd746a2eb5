import { formatThousandths, parseThousandths } from '#lib/kubernetes/exact-quantity.ts';
import type { ObjectMetricSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { MetricFailure, proposeByAverage, proposeByValue } from '../decision/replica-calculator.ts';
import {
  failingAs,
  type MetricContext,
  type MetricRule,
  missingTarget,
  requireSelector,
  targetThousandths,
} from './metric-rule.ts';
import { selectorText } from './selector-text.ts';

/** A custom metric of one object: `type: Object`. */
export function objectMetric(spec: ObjectMetricSpec): MetricRule {
  const { metric, describedObject, target } = spec;
  const isAverage = target.type === 'AverageValue';
  const step =
    isAverage && target.averageValue !== undefined ? `failed to get ${metric.name} object metric: ` : '';
  return {
    name: isAverage
      ? `external metric ${metric.name}(${selectorText(metric.selector)})`
      : `${describedObject.kind} metric ${metric.name}`,
    failureReason: 'FailedGetObjectMetric',
    errorPrefix: 'failed to get object metric value: ',
    step,

    propose(context) {
      requireSelector(metric);
      const value = isAverage
        ? targetThousandths(target, 'averageValue')
        : target.type === 'Value'
          ? targetThousandths(target, 'value')
          : undefined;
      if (value === undefined) throw missingTarget('object', 'a value target nor an average value target');
      const { tolerances, statusReplicas } = context;
      const input = { total: objectValue(spec, context), target: value, tolerances };
      return isAverage
        ? proposeByAverage(input, { statusReplicas, isCapped: false })
        : proposeByValue(input, context);
    },

    status({ current }) {
      const text = current === undefined ? undefined : formatThousandths(current);
      const field = isAverage ? 'averageValue' : 'value';
      return {
        type: 'Object',
        object: { metric, current: text === undefined ? {} : { [field]: text }, describedObject },
      };
    },
  };
}

function objectValue(
  { metric, describedObject }: ObjectMetricSpec,
  { reading, namespace }: MetricContext,
): bigint {
  const { kind, name } = describedObject;
  return failingAs(`unable to get metric ${metric.name}: ${kind} on ${namespace} ${name}/`, () => {
    if ('value' in reading) return parseThousandths(reading.value);
    const why = 'error' in reading ? reading.error : 'the response has no value';
    throw new MetricFailure(`unable to fetch metrics from custom metrics API: ${why}`);
  });
}
