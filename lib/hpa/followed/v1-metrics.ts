import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { MetricSpec, MetricStatus } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';

// In annotations of autoscaling/v1 a metric has other fields than in v2: what its target is, the field's name tells, and
// metrics of objects and external ones have a value always, which is 0 where only the average is meant.

type Fields = Readonly<Record<string, unknown>>;

/** A metric of an annotation in the terms of v2; what is none is a metric of an unknown type, which fails. */
export function metricSpecFromV1(entry: unknown): MetricSpec {
  const { type, source } = parts(entry);
  if (!source) return { type } as unknown as MetricSpec;
  const { targetAverageUtilization, targetValue } = source;
  const averageValue = source.targetAverageValue ?? source.averageValue;
  const target = isGiven(targetAverageUtilization)
    ? { type: 'Utilization', averageUtilization: targetAverageUtilization }
    : isGiven(averageValue)
      ? { type: 'AverageValue', averageValue }
      : { type: 'Value', value: targetValue };
  return { type, [fieldOf(type)]: { ...identityFromV1(type, source), target } } as unknown as MetricSpec;
}

/** The current value of a metric in an annotation, in the terms of v2. */
export function metricStatusFromV1(entry: unknown): MetricStatus {
  const { type, source } = parts(entry);
  if (!source) return { type };
  const averageUtilization = source.currentAverageUtilization;
  const averageValue = source.currentAverageValue ?? source.averageValue;
  const current = isGiven(averageValue)
    ? { ...(isGiven(averageUtilization) && { averageUtilization }), averageValue }
    : { value: source.currentValue };
  return { type, [fieldOf(type)]: { ...identityFromV1(type, source), current } } as MetricStatus;
}

/** The current value of a metric as an annotation has it. */
export function metricStatusToV1(status: MetricStatus): object {
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

/** What a metric is of: a resource, a metric of pods, of an object, or of nothing in the cluster. */
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

/** Whether it names what it is of: without, there is nothing to ask for. */
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

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
