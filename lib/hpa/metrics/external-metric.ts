import { formatThousandths, parseThousandths } from '#lib/kubernetes/exact-quantity.ts';
import type { NamedMetricSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import {
  MAX_INT64,
  MetricFailure,
  proposeByAverage,
  proposeByValue,
  toInt64,
} from '../decision/replica-calculator.ts';
import {
  failingAs,
  type MetricContext,
  type MetricRule,
  missingTarget,
  requireSelector,
  targetThousandths,
} from './metric-rule.ts';
import { selectorText } from './selector-text.ts';

/** A metric of something outside of the cluster: `type: External`. Its values are added up. */
export function externalMetric(spec: NamedMetricSpec): MetricRule {
  const { metric, target } = spec;
  const isAverage = target.averageValue !== undefined;
  const step = isAverage
    ? `failed to get ${metric.name} external metric: `
    : target.value === undefined
      ? ''
      : `failed to get external metric ${metric.name}: `;
  return {
    name: `external metric ${metric.name}(${selectorText(metric.selector)})`,
    failureReason: 'FailedGetExternalMetric',
    errorPrefix: `failed to get ${metric.name} external metric value: ${step}`,

    propose(context) {
      const value = targetThousandths(target, isAverage ? 'averageValue' : 'value');
      if (value === undefined) throw missingTarget('external', 'a value target nor an average value target');
      requireSelector(metric);
      const { tolerances, statusReplicas } = context;
      const values = valuesOf(spec, context);
      const total = isAverage ? sumForAverage(values) : sumForValue(values);
      const input = { total, target: value, tolerances };
      return isAverage
        ? proposeByAverage(input, { statusReplicas, isCapped: true })
        : proposeByValue(input, context);
    },

    status({ current }) {
      const text = current === undefined ? undefined : formatThousandths(current);
      const field = isAverage ? 'averageValue' : 'value';
      return { type: 'External', external: { metric, current: text === undefined ? {} : { [field]: text } } };
    },
  };
}

/** @returns thousandths */
function valuesOf({ metric }: NamedMetricSpec, { reading, namespace }: MetricContext): readonly bigint[] {
  const asked = `${namespace}/${metric.name}/${selectorText(metric.selector)}`;
  return failingAs(`unable to get external metric ${asked}: `, () => {
    if ('error' in reading) {
      throw new MetricFailure(`unable to fetch metrics from external metrics API: ${reading.error}`);
    }
    const values = 'values' in reading ? reading.values : [];
    if (values.length === 0) throw new MetricFailure('no metrics returned from external metrics API');
    return values.map(parseThousandths);
  });
}

/** A sum that would exceed 64 bits ends at the largest integer. */
function sumForValue(values: readonly bigint[]): bigint {
  let sum = 0n;
  for (const value of values) {
    if (value > 0n && sum + value > MAX_INT64) return MAX_INT64;
    sum = toInt64(sum + value);
  }
  return sum;
}

/** Here Kubernetes takes every sum below zero for one that exceeded 64 bits, values below zero among them. */
function sumForAverage(values: readonly bigint[]): bigint {
  let sum = 0n;
  for (const value of values) {
    sum = toInt64(sum + value);
    if (sum < 0n) return MAX_INT64;
  }
  return sum;
}
