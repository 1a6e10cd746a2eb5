import type { MetricSpec } from '../objects/horizontal-pod-autoscaler.ts';

/** What a load calls a metric. */
export function nameOf(spec: MetricSpec): string {
  if (spec.type === 'Resource') return spec.resource.name;
  if (spec.type === 'ContainerResource') return spec.containerResource.name;
  if (spec.type === 'Pods') return spec.pods.metric.name;
  return spec.type === 'Object' ? spec.object.metric.name : spec.external.metric.name;
}
