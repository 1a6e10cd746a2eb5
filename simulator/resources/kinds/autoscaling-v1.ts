import type { KubernetesObject } from '../../objects/kubernetes-object.ts';
import { isRecord } from '../schema.ts';

// autoscaling/v1 has annotations for the fields that it lacks.
const METRICS = 'autoscaling.alpha.kubernetes.io/metrics';
const CURRENT_METRICS = 'autoscaling.alpha.kubernetes.io/current-metrics';
const CONDITIONS = 'autoscaling.alpha.kubernetes.io/conditions';
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior';

/** Those of the status. */
export const V1_STATUS_ANNOTATIONS: readonly string[] = [CURRENT_METRICS, CONDITIONS];

type Fields = Readonly<Record<string, unknown>>;

/** Converts a stored HorizontalPodAutoscaler to autoscaling/v1. */
export function autoscalerToV1(stored: KubernetesObject): KubernetesObject {
  const { metrics, behavior, ...spec } = (stored.spec ?? {}) as Fields;
  const { currentMetrics, conditions, ...status } = (stored.status ?? {}) as Fields;
  const all = Array.isArray(metrics) ? metrics : [];
  const cpu = all.find((metric) => cpuUtilization(metric, 'target') !== undefined);
  const others = all.filter((metric) => metric !== cpu);
  const current = Array.isArray(currentMetrics) ? currentMetrics : [];
  const currentCpu = current
    .map((metric) => cpuUtilization(metric, 'current'))
    .find((value) => value !== undefined);
  const annotations = {
    ...stored.metadata.annotations,
    ...asAnnotation(METRICS, others.length > 0 ? others.map((one) => metricToV1(one, 'target')) : undefined),
    ...asAnnotation(BEHAVIOR, behavior && behaviorToV1(behavior)),
    ...asAnnotation(
      CURRENT_METRICS,
      current.length > 0 ? current.map((one) => metricToV1(one, 'current')) : undefined,
    ),
    ...asAnnotation(CONDITIONS, conditions),
  };
  const target = cpu && cpuUtilization(cpu, 'target');
  return {
    ...stored,
    apiVersion: 'autoscaling/v1',
    metadata: { ...stored.metadata, ...(Object.keys(annotations).length > 0 ? { annotations } : {}) },
    spec: { ...spec, ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target }) },
    status: {
      ...{ currentReplicas: 0, desiredReplicas: 0 }, // not omitted at zero
      ...status,
      ...(currentCpu === undefined ? {} : { currentCPUUtilizationPercentage: currentCpu }),
    },
  };
}

/** Converts autoscaling/v1 to the stored version. */
export function autoscalerFromV1(written: KubernetesObject): KubernetesObject {
  const { targetCPUUtilizationPercentage: target, ...spec } = (written.spec ?? {}) as Fields;
  const { currentCPUUtilizationPercentage: current, ...status } = (written.status ?? {}) as Fields;
  const {
    [METRICS]: metrics,
    [BEHAVIOR]: behavior,
    [CURRENT_METRICS]: currentMetrics,
    [CONDITIONS]: conditions,
    ...rest
  } = written.metadata.annotations ?? {};
  const { annotations: _annotations, ...metadata } = written.metadata;
  const otherMetrics = fromAnnotation(metrics);
  const all = [
    ...(target === undefined ? [] : [cpuMetric(Number(target))]),
    ...(Array.isArray(otherMetrics) ? otherMetrics.map((one) => metricFromV1(one, 'target')) : []),
  ];
  const currentAll = fromAnnotation(currentMetrics);
  return {
    ...written,
    apiVersion: 'autoscaling/v2',
    metadata: { ...metadata, ...(Object.keys(rest).length > 0 ? { annotations: rest } : {}) },
    spec: {
      ...spec,
      ...(all.length > 0 ? { metrics: all } : {}),
      ...(behavior === undefined ? {} : { behavior: behaviorFromV1(fromAnnotation(behavior)) }),
    },
    status: {
      ...status,
      ...(conditions === undefined ? {} : { conditions: fromAnnotation(conditions) }),
      currentMetrics: Array.isArray(currentAll)
        ? currentAll.map((one) => metricFromV1(one, 'current'))
        : current === undefined
          ? null
          : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } }],
    },
  };
}

function cpuMetric(averageUtilization: number) {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } };
}

function cpuUtilization(metric: unknown, field: 'target' | 'current'): number | undefined {
  if (!isRecord(metric) || metric.type !== 'Resource' || !isRecord(metric.resource)) return undefined;
  const value = metric.resource[field];
  if (metric.resource.name !== 'cpu' || !isRecord(value)) return undefined;
  return typeof value.averageUtilization === 'number' ? value.averageUtilization : undefined;
}

function asAnnotation(name: string, value: unknown): Readonly<Record<string, string>> {
  return value === undefined ? {} : { [name]: JSON.stringify(value) };
}

function fromAnnotation(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined; // not written by Kubernetes
  }
}

/** The part of a metric: its target in the spec, or its current value in the status. */
type MetricHalf = 'target' | 'current';

/** Converts a metric of autoscaling/v2 to an annotation of v1. */
function metricToV1(metric: unknown, half: MetricHalf): object {
  const { type, source } = sourceOf(metric);
  if (!source) return { type };
  const { metric: identifier, describedObject, [half]: values, ...others } = source;
  const { name: metricName, selector } = isRecord(identifier) ? identifier : {};
  const { value, averageValue, averageUtilization } = isRecord(values) ? values : {};
  const isStatus = half === 'current';
  switch (type) {
    case 'Pods':
      return { type, pods: given({ metricName, [named(half, 'AverageValue')]: averageValue, selector }) };
    case 'Object': {
      const { kind, name, apiVersion } = isRecord(describedObject) ? describedObject : {};
      const target = given({ kind, name, apiVersion });
      const of = { target, metricName, [named(half, 'Value')]: value ?? '0' };
      return { type, object: given({ ...of, selector, averageValue }) };
    }
    case 'External': {
      const of = {
        metricName,
        metricSelector: selector,
        [named(half, 'Value')]: value ?? (isStatus ? '0' : undefined),
      };
      return { type, external: given({ ...of, [named(half, 'AverageValue')]: averageValue }) };
    }
    default: {
      const utilization = { [named(half, 'AverageUtilization')]: averageUtilization };
      const average = averageValue ?? (isStatus ? '0' : undefined);
      const { name, container } = others;
      const values = { ...utilization, [named(half, 'AverageValue')]: average };
      return { type, [fieldOf(type)]: given({ name, ...values, container }) };
    }
  }
}

/** Converts a metric of an annotation of v1 to v2. */
function metricFromV1(metric: unknown, half: MetricHalf): object {
  const { type, source } = sourceOf(metric);
  if (!source) return { type };
  const averageUtilization = source[named(half, 'AverageUtilization')];
  const averageValue = source[named(half, 'AverageValue')] ?? source.averageValue;
  const isAverage = averageUtilization !== undefined || averageValue !== undefined;
  const value = half === 'target' && isAverage ? undefined : source[named(half, 'Value')];
  const type_ = averageUtilization !== undefined ? 'Utilization' : isAverage ? 'AverageValue' : 'Value';
  const values = given({
    ...(half === 'target' && { type: type_ }),
    ...{ averageUtilization, averageValue, value },
  });
  const { name, container, metricName, target } = source;
  const selector = source.selector ?? source.metricSelector;
  const identity = type.endsWith('Resource')
    ? { name, container }
    : {
        metric: given({ name: metricName, selector }),
        describedObject: type === 'Object' ? target : undefined,
      };
  return { type, [fieldOf(type)]: given({ ...identity, [half]: values }) };
}

/** Converts a behavior to an annotation: with the names of Go's fields, and null for absent values. */
function behaviorToV1(behavior: unknown): unknown {
  const { scaleUp, scaleDown } = isRecord(behavior) ? behavior : {};
  return { ScaleUp: rulesToV1(scaleUp), ScaleDown: rulesToV1(scaleDown) };
}

/** Converts a behavior of an annotation to v2. */
function behaviorFromV1(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(behaviorFromV1);
  if (!isRecord(value)) return value;
  const written = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(written.map(([name, one]) => [fieldOf(name), behaviorFromV1(one)]));
}

function rulesToV1(rules: unknown): object | null {
  if (!isRecord(rules)) return null;
  const { stabilizationWindowSeconds = null, selectPolicy = null, policies, tolerance } = rules;
  const all = Array.isArray(policies) ? (policies as readonly unknown[]).filter(isRecord) : null;
  const Policies =
    all?.map(({ type, value, periodSeconds }) => ({
      Type: type,
      Value: value,
      PeriodSeconds: periodSeconds,
    })) ?? null;
  const common = {
    StabilizationWindowSeconds: stabilizationWindowSeconds,
    SelectPolicy: selectPolicy,
    Policies,
  };
  return given({ ...common, Tolerance: tolerance });
}

function sourceOf(metric: unknown): { readonly type: string; readonly source: Fields | undefined } {
  const { type = '', ...sources }: Fields = isRecord(metric) ? metric : {};
  const source = sources[fieldOf(String(type))];
  return { type: String(type), source: isRecord(source) ? source : undefined };
}

/** As in `targetAverageValue`. */
function named(half: MetricHalf, value: string): string {
  return `${half}${value}`;
}

/** As in `containerResource` for `ContainerResource`. */
function fieldOf(type: string): string {
  return `${type.slice(0, 1).toLowerCase()}${type.slice(1)}`;
}

function given(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
