import type { NamedMetricSpec } from '../objects/horizontal-pod-autoscaler.ts';
import { MetricFailure } from '../proposals/metric-failure.ts';
import { proposeByAverage, proposeByValue } from '../proposals/proposal-by-total.ts';
import { formatThousandths } from '../quantities/format-thousandths.ts';
import { toInt64 } from '../quantities/go-integers.ts';
import { parseThousandths } from '../quantities/parse-quantity.ts';
import {
  failingAs,
  type MetricContext,
  type MetricRule,
  missingTarget,
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
      const { tolerances, statusReplicas } = context;
      const input = { total: sumOf(spec, context), target: value, tolerances };
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

function sumOf({ metric }: NamedMetricSpec, { reading, namespace }: MetricContext): bigint {
  const asked = `${namespace}/${metric.name}/${selectorText(metric.selector)}`;
  return failingAs(`unable to get external metric ${asked}: `, () => {
    if ('error' in reading) {
      throw new MetricFailure(`unable to fetch metrics from external metrics API: ${reading.error}`);
    }
    const values = 'values' in reading ? reading.values : [];
    if (values.length === 0) throw new MetricFailure('no metrics returned from external metrics API');
    let sum = 0n;
    for (const value of values) sum += parseThousandths(value);
    return toInt64(sum);
  });
}
