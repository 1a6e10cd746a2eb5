import type { HpaBehavior, HpaSpec, MetricSpec, ScalingRules } from './objects/horizontal-pod-autoscaler.ts';

/**
 * Fills in what the API server fills in for a submitted HPA of `autoscaling/v2`.
 *
 * The window of scaling down stays open: it is the controller's flag that fills it.
 */
export function defaultedSpec(submitted: Readonly<HpaSpec>): HpaSpec {
  const { minReplicas = 1, metrics = [], behavior, ...others } = submitted;
  return {
    ...others,
    minReplicas,
    metrics: metrics.length > 0 ? metrics : [DEFAULT_METRIC],
    ...(behavior ? { behavior: defaultedBehavior(behavior) } : {}),
  };
}

/** Nothing is filled in where there is no behavior at all: such an HPA follows other rules. */
function defaultedBehavior({ scaleUp, scaleDown }: HpaBehavior): HpaBehavior {
  return { scaleUp: { ...SCALE_UP, ...given(scaleUp) }, scaleDown: { ...SCALE_DOWN, ...given(scaleDown) } };
}

/** What the user wrote: a field that is null was not written. */
function given(rules: ScalingRules | undefined): ScalingRules {
  return Object.fromEntries(
    Object.entries(rules ?? {}).filter(([, value]) => value !== null && value !== undefined),
  );
}

const DEFAULT_METRIC: MetricSpec = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
};

const SCALE_UP: ScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};

const SCALE_DOWN: ScalingRules = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
};
