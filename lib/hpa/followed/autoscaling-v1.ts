import type { HpaSpec, MetricSpec } from '../objects/horizontal-pod-autoscaler.ts';
import type { HpaStatus, MetricStatus } from '../objects/hpa-status.ts';

// What autoscaling/v1 has no field for, the API server keeps in annotations.
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
  const others = annotated<readonly MetricSpec[]>(annotations, METRICS, Array.isArray) ?? [];
  const behavior = annotated<NonNullable<HpaSpec['behavior']>>(annotations, BEHAVIOR, isObject);
  return {
    ...common,
    metrics: [...(typeof cpu === 'number' ? [cpuMetric(cpu)] : []), ...others],
    ...(behavior && { behavior }),
  };
}

/** A status of `autoscaling/v1` in the terms of v2. */
export function statusFromV1(status: object | undefined, annotations: Annotations): HpaStatus | undefined {
  if (!status) return undefined;
  const { currentCPUUtilizationPercentage: _, ...common } = status as HpaStatus & {
    readonly currentCPUUtilizationPercentage?: number;
  };
  const currentMetrics = annotated<readonly MetricStatus[]>(annotations, CURRENT_METRICS, Array.isArray);
  const conditions = annotated<NonNullable<HpaStatus['conditions']>>(annotations, CONDITIONS, Array.isArray);
  return { ...common, currentMetrics: currentMetrics ?? null, ...(conditions && { conditions }) };
}

/** Spec, status and annotations as `autoscaling/v1` has them. */
export function statusToV1(hpa: {
  readonly metadata: { readonly annotations?: Annotations };
  readonly spec: HpaSpec;
  readonly status: HpaStatus;
}): { readonly spec: object; readonly status: object; readonly annotations: Annotations } {
  const { metrics = [], behavior, ...spec } = hpa.spec;
  const { currentMetrics, conditions, ...status } = hpa.status;
  const cpu = metrics.find((metric) => cpuTarget(metric) !== undefined);
  const others = metrics.filter((metric) => metric !== cpu);
  const currentCpu = (currentMetrics ?? []).find(({ resource }) => resource?.name === 'cpu')?.resource
    ?.current.averageUtilization;
  return {
    spec: { ...spec, ...(cpu && { targetCPUUtilizationPercentage: cpuTarget(cpu) }) },
    status: { ...status, ...(currentCpu !== undefined && { currentCPUUtilizationPercentage: currentCpu }) },
    annotations: {
      ...hpa.metadata.annotations,
      ...(others.length > 0 && { [METRICS]: JSON.stringify(others) }),
      ...(behavior && { [BEHAVIOR]: JSON.stringify(behavior) }),
      ...(currentMetrics &&
        currentMetrics.length > 0 && { [CURRENT_METRICS]: JSON.stringify(currentMetrics) }),
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

function cpuTarget(metric: MetricSpec): number | undefined {
  return metric.type === 'Resource' && metric.resource.name === 'cpu'
    ? metric.resource.target.averageUtilization
    : undefined;
}

function annotated<T>(
  annotations: Annotations,
  name: string,
  is: (value: unknown) => boolean,
): T | undefined {
  const text = annotations[name];
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return is(value) ? (value as T) : undefined;
  } catch {
    return undefined; // written by somebody else
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
