import { formatThousandths } from '#lib/kubernetes/exact-quantity.ts';
import type { NamedMetricSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { type PodSamples, valuesOfPods } from '../decision/pod-resources.ts';
import { averageMeasure, MetricFailure, proposeByPods } from '../decision/replica-calculator.ts';
import {
  failingAs,
  type MetricContext,
  type MetricRule,
  missingTarget,
  requireSelector,
  targetThousandths,
} from './metric-rule.ts';

/** A custom metric that pods have: `type: Pods`. Its only target is an average. */
export function podsMetric({ metric, target }: NamedMetricSpec): MetricRule {
  return {
    name: `pods metric ${metric.name}`,
    failureReason: 'FailedGetPodsMetric',
    errorPrefix: 'failed to get pods metric value: ',

    propose(context) {
      requireSelector(metric);
      const { pods, tolerances, config, nowMs, specReplicas } = context;
      const average = targetThousandths(target, 'averageValue');
      if (average === undefined) throw missingTarget('pods', 'a value target nor an average value target');
      const samples = failingAs(`unable to get metric ${metric.name}: `, () => samplesOf(context));
      const times = { ...config, nowMs };
      return proposeByPods(
        { samples, pods, tolerances, times, resource: undefined, currentReplicas: specReplicas },
        () => averageMeasure(average),
      );
    },

    status: ({ current }) => ({
      type: 'Pods',
      pods: { metric, current: current === undefined ? {} : { averageValue: formatThousandths(current) } },
    }),
  };
}

function samplesOf({ reading, nowMs }: MetricContext): PodSamples {
  if ('error' in reading) {
    throw new MetricFailure(`unable to fetch metrics from custom metrics API: ${reading.error}`);
  }
  const values = 'podValues' in reading ? reading.podValues : [];
  if (values.length === 0) throw new MetricFailure('no metrics returned from custom metrics API');
  return valuesOfPods(values, nowMs);
}
