/** Metrics of an HPA, and annotations that configure their collection. */
export interface MetricsOfHpa {
  /** `autoscaling/v2`, or `autoscaling/v2beta2` before Kubernetes 1.23. */
  readonly apiVersion: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly metrics: readonly object[];
}

/** An HPA of the Deployment of the same name. */
export function scaledByMetrics(name: string, { apiVersion, annotations, metrics }: MetricsOfHpa): object {
  return {
    apiVersion,
    kind: 'HorizontalPodAutoscaler',
    metadata: { name, namespace: 'default', annotations },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      minReplicas: 1,
      maxReplicas: 10,
      metrics,
      behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
    },
  };
}

export function externalMetric(
  name: string,
  { averageValue, matchLabels }: { averageValue: string; matchLabels: Readonly<Record<string, string>> },
): object {
  const target = { type: 'AverageValue', averageValue };
  return { type: 'External', external: { metric: { name, selector: { matchLabels } }, target } };
}

export function objectMetric(
  name: string,
  { averageValue, describedObject }: { averageValue: string; describedObject: object },
): object {
  const target = { type: 'AverageValue', averageValue };
  return { type: 'Object', object: { metric: { name }, describedObject, target } };
}

export function podsMetric(name: string, { averageValue }: { averageValue: string }): object {
  return { type: 'Pods', pods: { metric: { name }, target: { type: 'AverageValue', averageValue } } };
}
