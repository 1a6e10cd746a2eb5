import type {
  ContainerResourceMetricSpec,
  MetricIdentifier,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
  NamedMetricSpec,
  ObjectMetricSpec,
  ResourceMetricSpec,
} from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import {
  formatBinaryThousandths,
  formatThousandths,
  parseThousandths,
  QuantityError,
} from '#lib/kubernetes/quantity.ts';
import { SelectorError } from '#lib/kubernetes/selectors/label-selector.ts';
import { type LabelSelectorObject, metricSelector } from '#lib/kubernetes/selectors/selector-object.ts';

import type { HpaConfig, MetricReading } from './decision-input.ts';
import { requestsOfPods, usageOfContainers, usageOfPods, valuesOfPods } from './pod-resources.ts';
import {
  averageMeasure,
  MAX_INT64,
  MetricFailure,
  type PodSamples,
  type Proposal,
  proposeByAverage,
  proposeByPods,
  proposeByValue,
  SelectorFailure,
  type Tolerances,
  toInt64,
  utilizationMeasure,
} from './replica-calculator.ts';

/** How one kind of metric is evaluated. */
export interface MetricRule {
  /** The name in conditions and events. */
  readonly name: string;
  /** Reason of condition and event on failure. */
  readonly failureReason: string;
  /** Prefix of the error of the reconciliation. */
  readonly errorPrefix: string;
  /** Second prefix, unless the selector failed. */
  readonly step?: string;

  /** @throws {MetricFailure} with the message of condition and event */
  propose(context: MetricContext): Proposal;

  /** The status of the metric. */
  status(proposal: Proposal): MetricStatus;
}

/** Inputs of all metrics. */
export interface MetricContext {
  readonly reading: MetricReading;
  /** Pods that the scale's selector selects. */
  readonly pods: readonly ScaledPod[];
  readonly namespace: string;
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly tolerances: Tolerances;
  readonly config: HpaConfig;
  readonly nowMs: number;
}

/** The failure of a metric whose target has neither of its two possible values. */
function missingTarget(kind: string, values: string): MetricFailure {
  return new MetricFailure(`invalid ${kind} metric source: neither ${values} was set`);
}

/** @throws {SelectorFailure} when the selector of a metric is invalid */
function requireSelector({ selector }: MetricIdentifier): void {
  try {
    metricSelector(selector);
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    throw new SelectorFailure(error.message);
  }
}

/** The target value in thousandths. */
function targetThousandths(target: MetricTarget, field: 'value' | 'averageValue'): bigint | undefined {
  const text = target[field];
  return text === undefined ? undefined : parseThousandths(text);
}

/** Runs a step and prefixes its failures, unreadable numbers included. */
function failingAs<Result>(prefix: string, step: () => Result): Result {
  try {
    return step();
  } catch (error) {
    if (error instanceof QuantityError)
      throw new MetricFailure(`${prefix}${error.message}`, { isRefusal: true });
    if (!(error instanceof MetricFailure)) throw error;
    throw new MetricFailure(`${prefix}${error.message}`, { isRefusal: error.isRefusal });
  }
}

/** `type: Resource`: a resource of whole pods. */
export function resourceMetric(spec: ResourceMetricSpec): MetricRule {
  return {
    name: `${spec.name} resource${isAverage(spec) ? '' : ' utilization (percentage of request)'}`,
    failureReason: 'FailedGetResourceMetric',
    errorPrefix: `failed to get ${spec.name} resource metric value: `,
    propose: (context) => proposeByResource(spec, context),
    status: (proposal) => ({
      type: 'Resource',
      resource: { name: spec.name, current: currentOf(spec, proposal) },
    }),
  };
}

/** `type: ContainerResource`: a resource of one container of each pod. */
export function containerResourceMetric(spec: ContainerResourceMetricSpec): MetricRule {
  const { name, container } = spec;
  return {
    name: isAverage(spec)
      ? `${name} resource`
      : `${name} container resource utilization (percentage of request)`,
    failureReason: 'FailedGetContainerResourceMetric',
    errorPrefix: `failed to get ${container} container metric value: `,
    propose: (context) => proposeByResource(spec, context, container),
    status: (proposal) => ({
      type: 'ContainerResource',
      containerResource: { name, container, current: currentOf(spec, proposal) },
    }),
  };
}

function isAverage({ target }: ResourceMetricSpec): boolean {
  return target.averageValue !== undefined;
}

/** Formats memory as a binary quantity and other resources as decimal ones. */
function currentOf({ name }: ResourceMetricSpec, { current, utilization }: Proposal): MetricValueStatus {
  const format = name === 'memory' ? formatBinaryThousandths : formatThousandths;
  return {
    ...(current === undefined ? {} : { averageValue: format(current) }),
    ...(utilization === undefined ? {} : { averageUtilization: utilization }),
  };
}

/**
 * Proposes replicas by resource usage of pods or of one container: against an amount, or against requests. A target with
 * both uses the amount.
 *
 * @throws {MetricFailure}
 */
function proposeByResource(
  { name: resource, target }: ResourceMetricSpec,
  context: MetricContext,
  container?: string,
): Proposal {
  const { pods, tolerances, config, nowMs, reading, specReplicas } = context;
  const byPods = (measureOf: Parameters<typeof proposeByPods>[1]): Proposal =>
    proposeByPods(
      {
        pods,
        resource,
        tolerances,
        currentReplicas: specReplicas,
        times: { ...config, nowMs },
        samples: samplesOf(reading, resource, container),
      },
      measureOf,
    );

  const average = targetThousandths(target, 'averageValue');
  if (average !== undefined) {
    return failingAs(`failed to get ${resource} usage: `, () => byPods(() => averageMeasure(average)));
  }
  const { averageUtilization } = target;
  if (averageUtilization === undefined) {
    throw missingTarget('resource', 'an average utilization target nor an average value (usage) target');
  }
  const { podLevelResources } = config;
  return failingAs(`failed to get ${resource} utilization: `, () =>
    byPods(() =>
      utilizationMeasure(
        requestsOfPods(pods, { resource, container, podLevelResources }),
        averageUtilization,
      ),
    ),
  );
}

function samplesOf(reading: MetricReading, resource: string, container: string | undefined): PodSamples {
  return failingAs(`unable to get metrics for resource ${resource}: `, () => {
    if ('error' in reading) {
      throw new MetricFailure(`unable to fetch metrics from resource metrics API: ${reading.error}`);
    }
    const usages = 'podUsage' in reading ? reading.podUsage : [];
    if (usages.length === 0) throw new MetricFailure('no metrics returned from resource metrics API');
    return container === undefined
      ? usageOfPods(usages, resource)
      : usageOfContainers(usages, { resource, container });
  });
}

/** `type: Pods`: a custom metric of pods. Its target is always an average. */
export function podsMetric({ metric, target }: NamedMetricSpec): MetricRule {
  return {
    name: `pods metric ${metric.name}`,
    failureReason: 'FailedGetPodsMetric',
    errorPrefix: 'failed to get pods metric value: ',

    propose(context) {
      requireSelector(metric);
      const { pods, tolerances, config, nowMs, specReplicas } = context;
      const average = targetThousandths(target, 'averageValue');
      if (average === undefined) throw missingTarget('pods', 'a value target nor an average value target');
      const samples = failingAs(`unable to get metric ${metric.name}: `, () => podsMetricSamples(context));
      const times = { ...config, nowMs };
      return proposeByPods(
        { samples, pods, tolerances, times, resource: undefined, currentReplicas: specReplicas },
        () => averageMeasure(average),
      );
    },

    status: ({ current }) => ({
      type: 'Pods',
      pods: { metric, current: current === undefined ? {} : { averageValue: formatThousandths(current) } },
    }),
  };
}

function podsMetricSamples({ reading, nowMs }: MetricContext): PodSamples {
  if ('error' in reading) {
    throw new MetricFailure(`unable to fetch metrics from custom metrics API: ${reading.error}`);
  }
  const values = 'podValues' in reading ? reading.podValues : [];
  if (values.length === 0) throw new MetricFailure('no metrics returned from custom metrics API');
  return valuesOfPods(values, nowMs);
}

/** `type: Object`: a custom metric of one object. */
export function objectMetric(spec: ObjectMetricSpec): MetricRule {
  const { metric, describedObject, target } = spec;
  const isAverage = target.type === 'AverageValue';
  const step =
    isAverage && target.averageValue !== undefined ? `failed to get ${metric.name} object metric: ` : '';
  return {
    name: isAverage
      ? `external metric ${metric.name}(${selectorText(metric.selector)})`
      : `${describedObject.kind} metric ${metric.name}`,
    failureReason: 'FailedGetObjectMetric',
    errorPrefix: 'failed to get object metric value: ',
    step,

    propose(context) {
      requireSelector(metric);
      const value = isAverage
        ? targetThousandths(target, 'averageValue')
        : target.type === 'Value'
          ? targetThousandths(target, 'value')
          : undefined;
      if (value === undefined) throw missingTarget('object', 'a value target nor an average value target');
      const { tolerances, statusReplicas } = context;
      const input = { total: objectValue(spec, context), target: value, tolerances };
      return isAverage
        ? proposeByAverage(input, { statusReplicas, isCapped: false })
        : proposeByValue(input, context);
    },

    status({ current }) {
      const text = current === undefined ? undefined : formatThousandths(current);
      const field = isAverage ? 'averageValue' : 'value';
      return {
        type: 'Object',
        object: { metric, current: text === undefined ? {} : { [field]: text }, describedObject },
      };
    },
  };
}

function objectValue(
  { metric, describedObject }: ObjectMetricSpec,
  { reading, namespace }: MetricContext,
): bigint {
  const { kind, name } = describedObject;
  return failingAs(`unable to get metric ${metric.name}: ${kind} on ${namespace} ${name}/`, () => {
    if ('value' in reading) return parseThousandths(reading.value);
    const why = 'error' in reading ? reading.error : 'the response has no value';
    throw new MetricFailure(`unable to fetch metrics from custom metrics API: ${why}`);
  });
}

/** `type: External`: a metric from outside the cluster. Its values are summed. */
export function externalMetric(spec: NamedMetricSpec): MetricRule {
  const { metric, target } = spec;
  const isAverage = target.averageValue !== undefined;
  const step = isAverage
    ? `failed to get ${metric.name} external metric: `
    : target.value === undefined
      ? ''
      : `failed to get external metric ${metric.name}: `;
  return {
    name: `external metric ${metric.name}(${selectorText(metric.selector)})`,
    failureReason: 'FailedGetExternalMetric',
    errorPrefix: `failed to get ${metric.name} external metric value: ${step}`,

    propose(context) {
      const value = targetThousandths(target, isAverage ? 'averageValue' : 'value');
      if (value === undefined) throw missingTarget('external', 'a value target nor an average value target');
      requireSelector(metric);
      const { tolerances, statusReplicas } = context;
      const values = valuesOf(spec, context);
      const total = isAverage ? sumForAverage(values) : sumForValue(values);
      const input = { total, target: value, tolerances };
      return isAverage
        ? proposeByAverage(input, { statusReplicas, isCapped: true })
        : proposeByValue(input, context);
    },

    status({ current }) {
      const text = current === undefined ? undefined : formatThousandths(current);
      const field = isAverage ? 'averageValue' : 'value';
      return { type: 'External', external: { metric, current: text === undefined ? {} : { [field]: text } } };
    },
  };
}

/** @returns thousandths */
function valuesOf({ metric }: NamedMetricSpec, { reading, namespace }: MetricContext): readonly bigint[] {
  const requested = `${namespace}/${metric.name}/${selectorText(metric.selector)}`;
  return failingAs(`unable to get external metric ${requested}: `, () => {
    if ('error' in reading) {
      throw new MetricFailure(`unable to fetch metrics from external metrics API: ${reading.error}`);
    }
    const values = 'values' in reading ? reading.values : [];
    if (values.length === 0) throw new MetricFailure('no metrics returned from external metrics API');
    return values.map(parseThousandths);
  });
}

/** A sum beyond 64 bits is the largest integer. */
function sumForValue(values: readonly bigint[]): bigint {
  let sum = 0n;
  for (const value of values) {
    if (value > 0n && sum + value > MAX_INT64) return MAX_INT64;
    sum = toInt64(sum + value);
  }
  return sum;
}

/** As in Kubernetes, a negative sum counts as an overflow of 64 bits, also when the values are negative. */
function sumForAverage(values: readonly bigint[]): bigint {
  let sum = 0n;
  for (const value of values) {
    sum = toInt64(sum + value);
    if (sum < 0n) return MAX_INT64;
  }
  return sum;
}

/** Formats a label selector as Kubernetes' controller does in conditions and events; none is `nil`. */
export function selectorText(selector: LabelSelectorObject | undefined): string {
  if (!selector) return 'nil';
  const labels = Object.entries(selector.matchLabels ?? {})
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`);
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
