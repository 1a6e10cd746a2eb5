import { isRecord } from '../../schema/schema.ts';

// autoscaling/v1 has no metrics but CPU; in its annotations they have fields of their own, as kube-apiserver 1.20.2 writes them.

type Fields = Readonly<Record<string, unknown>>;

/** Which half of a metric is meant: what is wanted of it, in its spec, or what it is, in the status. */
export type MetricHalf = 'target' | 'current';

/** A metric of autoscaling/v2 as an annotation of v1 has it. */
export function metricToV1(metric: unknown, half: MetricHalf): object {
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

/** A metric of an annotation of autoscaling/v1 as v2 has it. */
export function metricFromV1(metric: unknown, half: MetricHalf): object {
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

/** A behavior as an annotation has it: by the names of Go's fields, and with null for what was not written. */
export function behaviorToV1(behavior: unknown): unknown {
  const { scaleUp, scaleDown } = isRecord(behavior) ? behavior : {};
  return { ScaleUp: rulesToV1(scaleUp), ScaleDown: rulesToV1(scaleDown) };
}

/** A behavior of an annotation as v2 has it. */
export function behaviorFromV1(value: unknown): unknown {
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
