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

/** What one kind of metric does with its part of the spec. */
export interface MetricRule {
  /** What conditions and events call the metric. */
  readonly name: string;
  /** The reason of condition and event when the metric fails. */
  readonly failureReason: string;
  /** What the reconcile's error puts before the failure. */
  readonly errorPrefix: string;
  /** What it puts between these, unless it is the selector that failed. */
  readonly step?: string;

  /** @throws {MetricFailure} with the message of condition and event */
  propose(context: MetricContext): Proposal;

  /** How the status shows what was proposed from. */
  status(proposal: Proposal): MetricStatus;
}

/** What every metric of an HPA is decided from. */
export interface MetricContext {
  readonly reading: MetricReading;
  /** Those that the scale's selector selects. */
  readonly pods: readonly ScaledPod[];
  readonly namespace: string;
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly tolerances: Tolerances;
  readonly config: HpaConfig;
  readonly nowMs: number;
}

/** Fails a metric whose target has neither of the values that its kind takes. */
function missingTarget(kind: string, values: string): MetricFailure {
  return new MetricFailure(`invalid ${kind} metric source: neither ${values} was set`);
}

/** @throws {SelectorFailure} when the selector of a metric cannot be used */
function requireSelector({ selector }: MetricIdentifier): void {
  try {
    metricSelector(selector);
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    throw new SelectorFailure(error.message);
  }
}

/** Reads what a target is to be, in thousandths. */
function targetThousandths(target: MetricTarget, field: 'value' | 'averageValue'): bigint | undefined {
  const text = target[field];
  return text === undefined ? undefined : parseThousandths(text);
}

/** Runs a step, and puts what was being done before its failure; numbers nobody can read are failures, too. */
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

/** A resource of whole pods: `type: Resource`. */
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

/** A resource of one container of each pod: `type: ContainerResource`. */
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

/** Memory is shown in the binary format, every other resource in the decimal one. */
function currentOf({ name }: ResourceMetricSpec, { current, utilization }: Proposal): MetricValueStatus {
  const format = name === 'memory' ? formatBinaryThousandths : formatThousandths;
  return {
    ...(current === undefined ? {} : { averageValue: format(current) }),
    ...(utilization === undefined ? {} : { averageUtilization: utilization }),
  };
}

/**
 * Proposes replicas by what pods, or one container of each, use of a resource: against an amount, or against what they
 * request of it. A target that has both is an amount.
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

/** A custom metric that pods have: `type: Pods`. Its only target is an average. */
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

/** A custom metric of one object: `type: Object`. */
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

/** A metric of something outside of the cluster: `type: External`. Its values are added up. */
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
  const asked = `${namespace}/${metric.name}/${selectorText(metric.selector)}`;
  return failingAs(`unable to get external metric ${asked}: `, () => {
    if ('error' in reading) {
      throw new MetricFailure(`unable to fetch metrics from external metrics API: ${reading.error}`);
    }
    const values = 'values' in reading ? reading.values : [];
    if (values.length === 0) throw new MetricFailure('no metrics returned from external metrics API');
    return values.map(parseThousandths);
  });
}

/** A sum that would exceed 64 bits ends at the largest integer. */
function sumForValue(values: readonly bigint[]): bigint {
  let sum = 0n;
  for (const value of values) {
    if (value > 0n && sum + value > MAX_INT64) return MAX_INT64;
    sum = toInt64(sum + value);
  }
  return sum;
}

/** Here Kubernetes takes every sum below zero for one that exceeded 64 bits, values below zero among them. */
function sumForAverage(values: readonly bigint[]): bigint {
  let sum = 0n;
  for (const value of values) {
    sum = toInt64(sum + value);
    if (sum < 0n) return MAX_INT64;
  }
  return sum;
}

/** Writes a selector of labels as Kubernetes' controller prints it in conditions and events; none is `nil`. */
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
