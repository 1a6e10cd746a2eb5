import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { HpaSpec, HpaStatus, MetricSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { behaviorFromV1 } from './v1-behavior.ts';
import { metricSpecFromV1, metricStatusFromV1, metricStatusToV1 } from './v1-metrics.ts';

// What autoscaling/v1 has no field for, the API server shows in annotations.
const PREFIX = 'autoscaling.alpha.kubernetes.io/';
const METRICS = `${PREFIX}metrics`;
const BEHAVIOR = `${PREFIX}behavior`;
const CURRENT_METRICS = `${PREFIX}current-metrics`;
const CONDITIONS = `${PREFIX}conditions`;

type Annotations = Readonly<Record<string, string>>;

/** A spec of `autoscaling/v1` in the terms of v2. An annotation that cannot be read says nothing. */
export function specFromV1(spec: object, annotations: Annotations): HpaSpec {
  const { targetCPUUtilizationPercentage: cpu, ...common } = spec as HpaSpec & {
    readonly targetCPUUtilizationPercentage?: number | null;
  };
  const others = annotatedList(annotations, METRICS) ?? [];
  const behavior = behaviorFromV1(annotated(annotations, BEHAVIOR));
  return {
    ...common,
    metrics: [...(typeof cpu === 'number' ? [cpuMetric(cpu)] : []), ...others.map(metricSpecFromV1)],
    ...(behavior && { behavior }),
  };
}

/** A status of `autoscaling/v1` in the terms of v2. */
export function statusFromV1(status: object | undefined, annotations: Annotations): HpaStatus | undefined {
  if (!status) return undefined;
  const { currentCPUUtilizationPercentage: _, ...common } = status as HpaStatus & {
    readonly currentCPUUtilizationPercentage?: number;
  };
  const currentMetrics = annotatedList(annotations, CURRENT_METRICS)?.map(metricStatusFromV1);
  const conditions = annotatedList(annotations, CONDITIONS)?.filter(isCondition);
  return { ...common, currentMetrics: currentMetrics ?? null, ...(conditions && { conditions }) };
}

/** A status as `autoscaling/v1` has it, with the annotations that hold the rest of it. */
export function statusToV1({ currentMetrics, conditions, ...status }: HpaStatus): {
  readonly status: object;
  readonly annotations: Annotations;
} {
  const metrics = currentMetrics ?? [];
  const currentCpu = metrics.find(({ resource }) => resource?.name === 'cpu')?.resource?.current
    .averageUtilization;
  return {
    status: { ...status, ...(currentCpu !== undefined && { currentCPUUtilizationPercentage: currentCpu }) },
    annotations: {
      ...(metrics.length > 0 && { [CURRENT_METRICS]: JSON.stringify(metrics.map(metricStatusToV1)) }),
      ...(conditions && { [CONDITIONS]: JSON.stringify(conditions) }),
    },
  };
}

/** The annotations that are users' own. */
export function withoutV1Annotations(annotations: Annotations): Annotations {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => !OURS.has(name)));
}

const OURS: ReadonlySet<string> = new Set([METRICS, BEHAVIOR, CURRENT_METRICS, CONDITIONS]);

function cpuMetric(averageUtilization: number): MetricSpec {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } };
}

type Condition = NonNullable<HpaStatus['conditions']>[number];

function isCondition(value: unknown): value is Condition {
  return (
    typeof value === 'object' && value !== null && typeof (value as Partial<Condition>).type === 'string'
  );
}

function annotatedList(annotations: Annotations, name: string): readonly unknown[] | undefined {
  const value = annotated(annotations, name);
  return Array.isArray(value) ? value : undefined;
}

function annotated(annotations: Annotations, name: string): unknown {
  const text = getOwn(annotations, name);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // written by somebody else
  }
}
