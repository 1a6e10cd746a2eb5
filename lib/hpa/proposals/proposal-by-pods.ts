import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import { type GroupingTimes, groupPods, type PodGroups } from './group-pods.ts';
import { MetricFailure } from './metric-failure.ts';
import type { PodMeasure } from './pod-measure.ts';
import type { PodSamples } from './pod-usage.ts';
import {
  leftOut,
  type PodsConsidered,
  type Proposal,
  type ProposalReason,
  wholeReplicas,
} from './proposal.ts';
import { isWithin, type Tolerances } from './tolerance.ts';

/** What a metric that is counted pod by pod is decided from. */
export interface PodMetricInput {
  readonly samples: PodSamples;
  readonly pods: readonly ScaledPod[];
  /** `undefined` for custom metrics. */
  readonly resource: string | undefined;
  readonly currentReplicas: number;
  readonly tolerances: Tolerances;
  readonly times: GroupingTimes;
}

/**
 * Proposes replicas by a metric that pods have.
 *
 * Pods that are ready are measured first. If others miss their samples, or are not ready while load rises, values are
 * assumed of them that count against scaling, and the metric scales only if it still would, the same way.
 *
 * @param measureOf called when it is known that there is something to measure
 * @throws {MetricFailure}
 */
export function proposeByPods(input: PodMetricInput, measureOf: () => PodMeasure): Proposal {
  const { samples, pods, resource, currentReplicas, tolerances, times } = input;
  if (pods.length === 0) throw noPods();
  const groups = groupPods(pods, samples, { resource, times });
  const values = valuesThatCount(samples, groups);
  if (values.size === 0) {
    throw new MetricFailure('did not receive metrics for targeted pods (pods might be unready)');
  }
  const measure = measureOf();
  const { average, ratio, utilization } = measure.measure(values);
  const considered = consideredPods(groups, values.size);
  const propose = (replicas: number, why: ProposalReason, assumedRatio?: number): Proposal => ({
    ...{ replicas, current: average, ratio, tolerances, why },
    ...(utilization === undefined ? {} : { utilization }),
    pods: assumedRatio === undefined ? considered : { ...considered, assumedRatio },
  });

  const countsUnready = groups.unready.length > 0 && ratio > 1;
  if (!countsUnready && groups.missing.length === 0) {
    if (isWithin(ratio, tolerances)) return propose(currentReplicas, 'within-tolerance');
    return propose(wholeReplicas(ratio * groups.readyCount), 'off-target');
  }
  for (const pod of groups.missing) {
    const assumed = measure.assumedOfMissing(pod, ratio);
    if (assumed !== undefined) values.set(pod, assumed);
  }
  if (countsUnready) for (const pod of groups.unready) values.set(pod, 0n);
  const assumedRatio = measure.measure(values).ratio;
  if (isWithin(assumedRatio, tolerances)) return propose(currentReplicas, 'within-tolerance', assumedRatio);
  if ((ratio < 1 && assumedRatio > 1) || (ratio > 1 && assumedRatio < 1)) {
    return propose(currentReplicas, 'direction-uncertain', assumedRatio);
  }
  const replicas = wholeReplicas(assumedRatio * values.size);
  if ((assumedRatio < 1 && replicas > currentReplicas) || (assumedRatio > 1 && replicas < currentReplicas)) {
    return propose(currentReplicas, 'count-uncertain', assumedRatio);
  }
  return propose(replicas, 'off-target', assumedRatio);
}

/** The failure of a selector that selects nothing. */
export function noPods(): MetricFailure {
  return new MetricFailure('no pods returned by selector while calculating replica count');
}

/** The values of pods that are ready; those of pods that nobody knows are among them, as in Kubernetes' controller. */
function valuesThatCount(samples: PodSamples, { unready, ignored }: PodGroups): Map<string, bigint> {
  const values = new Map<string, bigint>();
  for (const [pod, { thousandths }] of samples) values.set(pod, thousandths);
  for (const pod of unready) values.delete(pod);
  for (const pod of ignored) values.delete(pod);
  return values;
}

function consideredPods(
  { readyCount, unready, missing, ignored }: PodGroups,
  valueCount: number,
): PodsConsidered {
  return {
    counted: readyCount,
    unknown: valueCount - readyCount,
    unready: leftOut(unready),
    missing: leftOut(missing),
    ignored: leftOut(ignored),
  };
}
