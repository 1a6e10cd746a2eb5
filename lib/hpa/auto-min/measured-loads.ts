import { parseThousandths } from '#lib/kubernetes/exact-quantity.ts';
import type { HpaSpec, MetricSpec, MetricTarget } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { Explanation, MetricExplanation } from '../decision/decision.ts';

/** How heavy one metric of an HPA was on each replica of the minimum. */
export interface MeasuredLoad {
  /** Tells the metric from the others of the HPA. */
  readonly metric: string;
  /** In the unit of the target. */
  readonly load: number;
}

/** A metric and what it is to be, as a number. */
export interface MetricGoal {
  readonly metric: string;
  readonly target: number;
}

/** The loads that a decision was made from; metrics that could not be read are not among them. */
export function measuredLoads({ metrics = [] }: HpaSpec, explanation: Explanation): readonly MeasuredLoad[] {
  const { currentReplicas, minReplicas } = explanation;
  if (currentReplicas === undefined) return [];
  return metrics.flatMap((spec, place) => {
    const goal = goalOf(spec);
    const ratio = ratioOf(explanation.metrics[place]);
    if (!goal || ratio === undefined) return [];
    const load = ratioOnMinimum(ratio, { currentReplicas, minReplicas }) * goal.target;
    return Number.isFinite(load) && load >= 0 ? { metric: goal.metric, load } : [];
  });
}

/** The metrics of an HPA; `undefined` for one whose target is no number above zero. */
export function metricGoals({ metrics = [] }: HpaSpec): readonly (MetricGoal | undefined)[] {
  return metrics.map(goalOf);
}

/**
 * How heavy the load would be on the minimum. Above the target it is as the HPA's rules read it. Below, while more
 * replicas run than the minimum, each replica of the minimum would carry more, though no more than the target says here:
 * that many replicas are what scaling is for.
 */
export function ratioOnMinimum(
  ratio: number,
  { currentReplicas, minReplicas }: { readonly currentReplicas: number; readonly minReplicas: number },
): number {
  if (ratio >= 1 || currentReplicas <= minReplicas || minReplicas === 0) return ratio;
  return Math.min(1, (ratio * currentReplicas) / minReplicas);
}

/** A target as a number: percent, or the amount. */
export function targetNumber({ averageValue, value, averageUtilization }: MetricTarget): number | undefined {
  const amount = averageValue ?? value;
  const target = amount === undefined ? averageUtilization : amountOf(amount);
  return target !== undefined && target > 0 ? target : undefined;
}

/** What a target's number means, as kube-state-metrics calls it, too. */
export function targetKind({ averageValue, value }: MetricTarget): 'average' | 'value' | 'utilization' {
  return averageValue !== undefined ? 'average' : value !== undefined ? 'value' : 'utilization';
}

/** What of a metric's spec says which it is. */
export function sourceOf(spec: MetricSpec): {
  readonly name: string;
  readonly of: string;
  readonly target: MetricTarget;
} {
  switch (spec.type) {
    case 'Resource':
      return { name: spec.resource.name, of: '', target: spec.resource.target };
    case 'ContainerResource':
      return { ...spec.containerResource, of: spec.containerResource.container };
    case 'Object': {
      const { metric, describedObject, target } = spec.object;
      return {
        name: metric.name,
        of: `${describedObject.kind}/${describedObject.name}${selectorOf(metric)}`,
        target,
      };
    }
    default: {
      const { metric, target } = spec.type === 'Pods' ? spec.pods : spec.external;
      return { name: metric.name, of: selectorOf(metric), target };
    }
  }
}

function goalOf(spec: MetricSpec): MetricGoal | undefined {
  const { name, of, target } = sourceOf(spec);
  const number = targetNumber(target);
  if (number === undefined) return undefined;
  const metric = [spec.type, name, ...(of === '' ? [] : [of]), targetKind(target)].join(' ');
  return { metric: metric.slice(0, LONGEST_NAME), target: number };
}

const LONGEST_NAME = 512;

function ratioOf(metric: MetricExplanation | undefined): number | undefined {
  return metric?.failure ? undefined : metric?.proposal?.ratio;
}

function amountOf(text: string): number | undefined {
  try {
    return Number(parseThousandths(text)) / 1000;
  } catch {
    return undefined; // the metric fails, too, and tells why
  }
}

function selectorOf({ selector }: { readonly selector?: object }): string {
  return selector ? JSON.stringify(selector) : '';
}
