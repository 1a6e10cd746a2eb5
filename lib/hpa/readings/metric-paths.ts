/** Where a custom metric of all pods that a selector selects is served. */
export function podsMetricPath(version: string, metric: MetricOf): string {
  const query = queryOf({ labelSelector: metric.labelSelector, metricLabelSelector: metric.metricSelector });
  return `${customPath(version, metric.namespace)}/pods/%2A/${segment(metric.name)}${query}`;
}

/**
 * Where a custom metric of one object is served: of the namespace itself at a place of its own, of an object without a
 * namespace in that of the HPA.
 *
 * @param resource as in `ingresses.networking.k8s.io`
 */
export function objectMetricPath(
  version: string,
  metric: MetricOf,
  { resource, name }: { readonly resource: string; readonly name: string },
): string {
  const query = queryOf({ metricLabelSelector: metric.metricSelector });
  const metricName = segment(metric.name);
  if (resource === 'namespaces') return `${customPath(version, name)}/metrics/${metricName}${query}`;
  const object = `${segment(resource)}/${segment(name)}`;
  return `${customPath(version, metric.namespace)}/${object}/${metricName}${query}`;
}

/** Where an external metric is served; Kubernetes' client asks for it in lower case. */
export function externalMetricPath(metric: MetricOf): string {
  const namespace = `/apis/external.metrics.k8s.io/v1beta1/namespaces/${segment(metric.namespace)}`;
  return `${namespace}/${segment(metric.name.toLowerCase())}${queryOf({ labelSelector: metric.metricSelector })}`;
}

/** Which metric is asked for. */
export interface MetricOf {
  readonly namespace: string;
  readonly name: string;
  /** Of pods. */
  readonly labelSelector?: string;
  /** Of the metric's own labels; empty for none. */
  readonly metricSelector: string;
}

function customPath(version: string, namespace: string): string {
  return `/apis/custom.metrics.k8s.io/${version}/namespaces/${segment(namespace)}`;
}

/** A part of a path; Go leaves a colon as it is. @throws for what would lead elsewhere */
function segment(text: string): string {
  if (text === '' || text === '.' || text === '..')
    throw new Error(`Cannot ask for ${JSON.stringify(text)}: it is no name in a path`);
  return encodeURIComponent(text.toWellFormed()).replaceAll('%3A', ':');
}

function queryOf(values: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value) query.append(name, value);
  return query.size === 0 ? '' : `?${query}`;
}
