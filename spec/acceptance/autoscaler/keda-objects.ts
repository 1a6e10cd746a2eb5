const KINDS = [
  ['ScaledObject', 'Namespaced'],
  ['ScaledJob', 'Namespaced'],
  ['TriggerAuthentication', 'Namespaced'],
  ['ClusterTriggerAuthentication', 'Cluster'],
] as const;

/**
 * Custom resource definitions of KEDA's kinds without validation: existing objects may be in any form that KEDA has
 * written.
 */
export function kedaDefinitions(): readonly object[] {
  return KINDS.map(([kind, scope]) => {
    const singular = kind.toLowerCase();
    const names = { kind, listKind: `${kind}List`, plural: `${singular}s`, singular };
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const version = { name: 'v1alpha1', served: true, storage: true, subresources: { status: {} }, schema };
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${names.plural}.keda.sh` },
      spec: { group: 'keda.sh', scope, names, versions: [version] },
    };
  });
}

/** Lease of KEDA's operator with a duration of one hour. */
export function kedaLease(): object {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'operator.keda.sh', namespace: 'keda' },
    spec: {
      ...{ holderIdentity: 'keda-operator-1', leaseDurationSeconds: 3600 },
      renewTime: new Date().toISOString().replace('Z', '000Z'),
    },
  };
}

/** APIService that KEDA registers for external metrics, with its operator's CA certificate. */
export function kedaApiService(caPem: string): object {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1beta1.external.metrics.k8s.io' },
    spec: {
      ...{ group: 'external.metrics.k8s.io', version: 'v1beta1' },
      ...{ groupPriorityMinimum: 100, versionPriority: 100 },
      service: { name: 'keda-metrics-apiserver', namespace: 'keda' },
      caBundle: Buffer.from(caPem).toString('base64'),
    },
  };
}

/** A ScaledObject with the finalizer and label that KEDA adds; see {@link kedaStatus} for its status. */
export function kedaScaledObject(name: string, spec: object) {
  return {
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledObject',
    metadata: {
      ...{ name, namespace: 'default', finalizers: ['finalizer.keda.sh'] },
      labels: { 'scaledobject.keda.sh/name': name },
    },
    spec: { scaleTargetRef: { name }, ...spec },
  };
}

/** Status that KEDA writes for a ScaledObject of a Deployment. */
export function kedaStatus(name: string, metricName: string): object {
  const gvkr = { group: 'apps', version: 'v1', kind: 'Deployment', resource: 'deployments' };
  return {
    ...{ scaleTargetKind: 'apps/v1.Deployment', scaleTargetGVKR: gvkr, originalReplicaCount: 1 },
    ...{ externalMetricNames: [metricName], resourceMetricNames: [], hpaName: `keda-hpa-${name}` },
    ...{ triggersTypes: 'redis', authenticationsTypes: '', lastActiveTime: new Date().toISOString() },
    health: { [metricName]: { numberOfFailures: 0, status: 'Happy' } },
    conditions: [
      { type: 'Ready', status: 'True', reason: 'ScaledObjectReady', message: 'ready' },
      { type: 'Active', status: 'True', reason: 'ScalerActive', message: 'active' },
      { type: 'Fallback', status: 'False', reason: 'NoFallbackFound', message: 'none' },
      { type: 'Paused', status: 'Unknown' },
    ],
  };
}

/** HPA that KEDA creates. */
export function kedaHpa(
  name: string,
  uid: string,
  metric: { readonly name: string; readonly target: string; readonly apiVersion: string },
) {
  const owner = { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', name, uid };
  const matchLabels = { 'scaledobject.keda.sh/name': name };
  const target = { type: 'AverageValue', averageValue: metric.target };
  return {
    apiVersion: metric.apiVersion,
    kind: 'HorizontalPodAutoscaler',
    metadata: {
      ...{ name: `keda-hpa-${name}`, namespace: 'default' },
      labels: {
        'app.kubernetes.io/name': `keda-hpa-${name}`,
        'app.kubernetes.io/version': '2.20.2',
        'app.kubernetes.io/part-of': name,
        'app.kubernetes.io/managed-by': 'keda-operator',
        ...matchLabels,
      },
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      ...{ minReplicas: 1, maxReplicas: 10 },
      metrics: [
        { type: 'External', external: { metric: { name: metric.name, selector: { matchLabels } }, target } },
      ],
      behavior: { scaleDown: { stabilizationWindowSeconds: 1 } },
    },
  };
}
