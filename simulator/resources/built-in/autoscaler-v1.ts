import type { KubernetesObject } from '../../objects/kubernetes-object.ts';
import { isRecord } from '../../schema/schema.ts';
import { behaviorFromV1, behaviorToV1, metricFromV1, metricToV1 } from './autoscaler-v1-metrics.ts';

// What autoscaling/v1 has no field for is kept in annotations.
const METRICS = 'autoscaling.alpha.kubernetes.io/metrics';
const CURRENT_METRICS = 'autoscaling.alpha.kubernetes.io/current-metrics';
const CONDITIONS = 'autoscaling.alpha.kubernetes.io/conditions';
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior';

/** Those of them that are of the status. */
export const V1_STATUS_ANNOTATIONS: readonly string[] = [CURRENT_METRICS, CONDITIONS];

type Fields = Readonly<Record<string, unknown>>;

/** A stored HorizontalPodAutoscaler as autoscaling/v1 shows it. */
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
      ...{ currentReplicas: 0, desiredReplicas: 0 }, // which it shows though they are zero
      ...status,
      ...(currentCpu === undefined ? {} : { currentCPUUtilizationPercentage: currentCpu }),
    },
  };
}

/** What was written as autoscaling/v1, as it is stored. */
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
    return undefined; // somebody else's text
  }
}
