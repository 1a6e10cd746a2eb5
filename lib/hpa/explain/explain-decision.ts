import { formatDuration } from '#lib/time/duration.ts';
import type { Limit } from '../decision/behavior.ts';
import type { Explanation } from '../decision/decision.ts';
import { explainMetric } from './explain-metric.ts';

/**
 * Tells a decision as text: what was measured, what each metric asks for, and what stabilization, rates and bounds made
 * of that. One line for each step, details indented below it.
 *
 * @param options.isHypothetical nothing is scaled, whatever was decided
 */
export function explainDecision(
  explanation: Explanation,
  { isHypothetical = false }: { readonly isHypothetical?: boolean } = {},
): string {
  const { metrics, atMs, leadingMetric } = explanation;
  return [
    headline(explanation, isHypothetical ? 'would scale to' : 'scales to'),
    ...metrics.flatMap((metric, place) =>
      explainMetric(metric, { atMs, isLeading: place === leadingMetric }),
    ),
    ...stabilizationLines(explanation),
    ...limitLines(explanation.limit, explanation.stabilization?.replicas),
    ...(explanation.problem === undefined ? [] : [`problem: ${explanation.problem}`]),
  ].join('\n');
}

function headline(
  { step, currentReplicas, minReplicas, maxReplicas, desiredReplicas }: Explanation,
  scales: string,
): string {
  const bounds = `bounds ${minReplicas} to ${maxReplicas}`;
  if (currentReplicas === undefined) return `the scale of the target is not known; ${bounds}`;
  const now = `${currentReplicas} replicas, ${bounds}`;
  switch (step) {
    case 'switched-off':
      return `${now}: switched off, for the target has no replicas`;
    case 'above-max':
      return `${now}: ${scales} ${desiredReplicas}, the maximum, without a look at metrics`;
    case 'below-min':
      return `${now}: ${scales} ${desiredReplicas}, the minimum, without a look at metrics`;
    case 'unclear-pods':
      return `${now}: stays, for it is not clear which pods it scales`;
    case 'metrics-missing':
      return `${now}: stays, for metrics are missing`;
    default:
      return desiredReplicas === currentReplicas ? `${now}: stays` : `${now}: ${scales} ${desiredReplicas}`;
  }
}

function stabilizationLines({ stabilization, atMs }: Explanation): string[] {
  if (!stabilization) return [];
  const { proposed, replicas, heldBy, scaleUpWindowMs, scaleDownWindowMs } = stabilization;
  const windows = `windows: up ${formatDuration(scaleUpWindowMs)}, down ${formatDuration(scaleDownWindowMs)}`;
  if (!heldBy) return [`stabilization: ${replicas}, as the metrics ask (${windows})`];
  const ago = formatDuration(Math.max(0, atMs - heldBy.atMs));
  return [
    `stabilization: ${replicas} in place of ${proposed}, for ${heldBy.replicas} were recommended ${ago} ago (${windows})`,
  ];
}

function limitLines(limit: Limit | undefined, recommended: number | undefined): string[] {
  if (!limit) return [];
  const { replicas, reason, message, policies = [] } = limit;
  const isLimited = replicas !== recommended;
  return [
    isLimited
      ? `limits: ${replicas} in place of ${recommended}: ${reason}, ${message}`
      : `limits: ${replicas} is within them`,
    ...policies.map(
      (policy) =>
        `  policy ${policy.type} ${policy.value} in ${policy.periodSeconds}s: from ${policy.periodStartReplicas} at the start of the period to ${policy.replicas}`,
    ),
  ];
}
