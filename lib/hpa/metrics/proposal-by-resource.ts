import type { ResourceMetricSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { MetricReading } from '../decision/decision-input.ts';
import {
  type PodSamples,
  requestsOfPods,
  usageOfContainers,
  usageOfPods,
} from '../decision/pod-resources.ts';
import {
  averageMeasure,
  MetricFailure,
  type Proposal,
  proposeByPods,
  utilizationMeasure,
} from '../decision/replica-calculator.ts';
import { failingAs, type MetricContext, missingTarget, targetThousandths } from './metric-rule.ts';

/**
 * Proposes replicas by what pods, or one container of each, use of a resource: against an amount, or against what they
 * request of it. A target that has both is an amount.
 *
 * @throws {MetricFailure}
 */
export function proposeByResource(
  { name: resource, target }: ResourceMetricSpec,
  context: MetricContext,
  container?: string,
): Proposal {
  const { pods, tolerances, config, nowMs, reading, specReplicas } = context;
  const byPods = (measureOf: Parameters<typeof proposeByPods>[1]): Proposal =>
    proposeByPods(
      {
        ...{ pods, resource, tolerances, currentReplicas: specReplicas, times: { ...config, nowMs } },
        samples: samplesOf(reading, resource, container),
      },
      measureOf,
    );

  const average = targetThousandths(target, 'averageValue');
  if (average !== undefined) {
    return failingAs(`failed to get ${resource} usage: `, () => byPods(() => averageMeasure(average)));
  }
  const { averageUtilization } = target;
  if (averageUtilization === undefined) {
    throw missingTarget('resource', 'an average utilization target nor an average value (usage) target');
  }
  const { podLevelResources } = config;
  return failingAs(`failed to get ${resource} utilization: `, () =>
    byPods(() =>
      utilizationMeasure(
        requestsOfPods(pods, { resource, container, podLevelResources }),
        averageUtilization,
      ),
    ),
  );
}

function samplesOf(reading: MetricReading, resource: string, container: string | undefined): PodSamples {
  return failingAs(`unable to get metrics for resource ${resource}: `, () => {
    if ('error' in reading) {
      throw new MetricFailure(`unable to fetch metrics from resource metrics API: ${reading.error}`);
    }
    const usages = 'podUsage' in reading ? reading.podUsage : [];
    if (usages.length === 0) throw new MetricFailure('no metrics returned from resource metrics API');
    return container === undefined
      ? usageOfPods(usages, resource)
      : usageOfContainers(usages, { resource, container });
  });
}
