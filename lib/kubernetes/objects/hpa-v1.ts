import { getOwn } from '../get-own.ts';
import {
  FAILED_METRIC_STATUS,
  type HpaBehavior,
  type HpaStatus,
  type MetricSpec,
  type MetricStatus,
} from './horizontal-pod-autoscaler.ts';
import { BEHAVIOR_SCHEMA, CONDITION_SCHEMA, METRIC_SPEC_SCHEMA, METRIC_STATUS_SCHEMA } from './hpa-schema.ts';

// The API server serves fields that autoscaling/v1 does not have as annotations.
const PREFIX = 'autoscaling.alpha.kubernetes.io/';
const METRICS = `${PREFIX}metrics`;
const BEHAVIOR = `${PREFIX}behavior`;
const CURRENT_METRICS = `${PREFIX}current-metrics`;
const CONDITIONS = `${PREFIX}conditions`;

type Annotations = Readonly<Record<string, string>>;

/** A spec of `autoscaling/v1` in the form of v2. An annotation that cannot be parsed is ignored. */
export function specFromV1(spec: unknown, annotations: Annotations): unknown {
  if (!isFields(spec)) return spec;
  const { targetCPUUtilizationPercentage: cpu, ...common } = spec;
  const others = annotatedList(annotations, METRICS) ?? [];
  const behavior = behaviorFromV1(annotated(annotations, BEHAVIOR));
  return {
    ...common,
    metrics: [...(typeof cpu === 'number' ? [cpuMetric(cpu)] : []), ...others.map(metricSpecFromV1)],
    ...(behavior && { behavior }),
  };
}

/** A status of `autoscaling/v1` in the form of v2. */
export function statusFromV1(status: unknown, annotations: Annotations): unknown {
  if (!isFields(status)) return status;
  const { currentCPUUtilizationPercentage: _, ...common } = status;
  const currentMetrics = annotatedList(annotations, CURRENT_METRICS)?.map(metricStatusFromV1);
  const conditions = annotatedList(annotations, CONDITIONS)?.filter(isCondition);
  return { ...common, currentMetrics: currentMetrics ?? null, ...(conditions && { conditions }) };
}

/** A status in the form of `autoscaling/v1`, with annotations for the rest of it. */
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

/** The annotations of users. */
export function withoutV1Annotations(annotations: Annotations): Annotations {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => !OURS.has(name)));
}

const OURS: ReadonlySet<string> = new Set([METRICS, BEHAVIOR, CURRENT_METRICS, CONDITIONS]);

function cpuMetric(averageUtilization: number): MetricSpec {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } };
}

function isCondition(value: unknown): boolean {
  return CONDITION_SCHEMA.safeParse(value).success;
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
    return undefined; // written by another client
  }
}

/** Deeper values are not a behavior. */
const MAX_BEHAVIOR_DEPTH = 4;

/**
 * The behavior in an annotation of autoscaling/v1, in the form of v2: the API server writes the names of its Go fields,
 * such as `ScaleUp`, and null for absent ones.
 *
 * @returns `undefined` for an invalid one
 */
function behaviorFromV1(value: unknown): HpaBehavior | undefined {
  const read = withOurNames(value, MAX_BEHAVIOR_DEPTH);
  return BEHAVIOR_SCHEMA.safeParse(read).success ? (read as HpaBehavior) : undefined;
}

/** Converts names to lower camel case and drops null values. */
function withOurNames(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return undefined;
  if (Array.isArray(value)) return value.map((one) => withOurNames(one, depth - 1));
  const given = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(
    given.map(([name, one]) => [
      `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`,
      withOurNames(one, depth - 1),
    ]),
  );
}

// In annotations of autoscaling/v1 a metric has other fields than in v2: the name of a field implies the type of the
// target, and object and external metrics always have a value, which is 0 where only the average counts.

type Fields = Readonly<Record<string, unknown>>;

/** A metric of an annotation in the terms of v2; what is none is a metric of an unknown type, which fails alone. */
function metricSpecFromV1(entry: unknown): MetricSpec {
  const { type, source } = parts(entry);
  const spec = source && specOfSource(type, source);
  if (spec && METRIC_SPEC_SCHEMA.safeParse(spec).success) return spec as MetricSpec;
  return { type: TYPES.has(type) ? '' : type } as unknown as MetricSpec;
}

function specOfSource(type: string, source: Fields): object {
  const { targetAverageUtilization, targetValue } = source;
  const averageValue = source.targetAverageValue ?? source.averageValue;
  const target = isGiven(targetAverageUtilization)
    ? { type: 'Utilization', averageUtilization: targetAverageUtilization }
    : isGiven(averageValue)
      ? { type: 'AverageValue', averageValue }
      : { type: 'Value', value: targetValue };
  return { type, [fieldOf(type)]: { ...identityFromV1(type, source), target } };
}

/** The current value of a metric in an annotation, in the form of v2. */
function metricStatusFromV1(entry: unknown): MetricStatus {
  const { type, source } = parts(entry);
  const status = source ? statusOfSource(type, source) : { type };
  return METRIC_STATUS_SCHEMA.safeParse(status).success ? (status as MetricStatus) : FAILED_METRIC_STATUS;
}

function statusOfSource(type: string, source: Fields): object {
  const averageUtilization = source.currentAverageUtilization;
  const averageValue = source.currentAverageValue ?? source.averageValue;
  const current = isGiven(averageValue)
    ? { ...(isGiven(averageUtilization) && { averageUtilization }), averageValue }
    : { value: source.currentValue };
  return { type, [fieldOf(type)]: { ...identityFromV1(type, source), current } };
}

/** The current value of a metric in the form of an annotation. */
function metricStatusToV1(status: MetricStatus): object {
  const { type, resource, containerResource, pods, object, external } = status;
  const inResource = resource ?? containerResource;
  if (inResource) {
    const { current, ...identity } = inResource;
    const { averageUtilization, averageValue } = current;
    const source = {
      ...identity,
      ...(isGiven(averageUtilization) && { currentAverageUtilization: averageUtilization }),
      currentAverageValue: averageValue ?? '0',
    };
    return { type, [fieldOf(type)]: source };
  }
  if (pods) {
    const { name: metricName, selector } = pods.metric;
    const currentAverageValue = pods.current.averageValue ?? '0';
    return { type, pods: { metricName, currentAverageValue, ...(selector && { selector }) } };
  }
  if (object) {
    const { describedObject: target, metric, current } = object;
    const { value: currentValue = '0', averageValue } = current;
    const { name: metricName, selector } = metric;
    const of = { target, metricName, ...(selector && { selector }) };
    return { type, object: { ...of, currentValue, ...(isGiven(averageValue) && { averageValue }) } };
  }
  if (external) {
    const { value: currentValue = '0', averageValue: currentAverageValue } = external.current;
    const { name: metricName, selector: metricSelector } = external.metric;
    const of = { metricName, ...(metricSelector && { metricSelector }) };
    return {
      type,
      external: { ...of, currentValue, ...(isGiven(currentAverageValue) && { currentAverageValue }) },
    };
  }
  return { type };
}

/** The identity of a metric: a resource, a metric of pods, of an object, or an external one. */
function identityFromV1(type: string, source: Fields): object {
  const { name, container, metricName, target } = source;
  if (type === 'Resource') return { name };
  if (type === 'ContainerResource') return { name, container };
  const selector = source.selector ?? source.metricSelector;
  const metric = { name: metricName, ...(isGiven(selector) && { selector }) };
  return type === 'Object' ? { metric, describedObject: target } : { metric };
}

function parts(entry: unknown): { readonly type: string; readonly source: Fields | undefined } {
  if (!isFields(entry) || typeof entry.type !== 'string') return { type: '', source: undefined };
  const { type } = entry;
  const source = TYPES.has(type) ? getOwn(entry, fieldOf(type)) : undefined;
  return { type, source: isFields(source) && isComplete(type, source) ? source : undefined };
}

const TYPES: ReadonlySet<string> = new Set(['Resource', 'ContainerResource', 'Pods', 'Object', 'External']);

/** Whether the metric has an identity; without one it cannot be requested. */
function isComplete(type: string, { name, metricName, target }: Fields): boolean {
  if (type === 'Resource' || type === 'ContainerResource') return typeof name === 'string';
  return typeof metricName === 'string' && (type !== 'Object' || isFields(target));
}

function fieldOf(type: string): string {
  return `${type.slice(0, 1).toLowerCase()}${type.slice(1)}`;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
