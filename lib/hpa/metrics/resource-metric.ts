import { formatBinaryThousandths, formatThousandths } from '#lib/kubernetes/exact-quantity.ts';
import type {
  ContainerResourceMetricSpec,
  MetricValueStatus,
  ResourceMetricSpec,
} from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { Proposal } from '../decision/replica-calculator.ts';
import type { MetricRule } from './metric-rule.ts';
import { proposeByResource } from './proposal-by-resource.ts';

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
