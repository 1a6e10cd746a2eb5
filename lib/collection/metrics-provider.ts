import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';

export interface MetricValue {
  /** A Kubernetes quantity in canonical form. */
  readonly value: string;
  /** `undefined` if unknown. */
  readonly takenAtMs: number | undefined;
  readonly windowSeconds?: number | undefined;
  /** Labels that the source adds. */
  readonly sourceLabels?: Readonly<Record<string, string>> | undefined;
}

export interface ExternalValue extends MetricValue {
  readonly metric: string;
  /** `undefined` to omit the map from the response. */
  readonly labels: Readonly<Record<string, string>> | undefined;
}

export interface ObjectValue extends MetricValue {
  readonly object: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
    /** Empty for cluster-scoped objects. */
    readonly namespace: string;
    readonly name: string;
  };
}

/** A request to the custom metrics API. */
export interface ObjectMetricQuery {
  /** As in the path: `pods`, `deployments.apps`. */
  readonly resource: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  /** `undefined` for all objects that `labelSelector` matches. */
  readonly name: string | undefined;
  readonly labelSelector: LabelSelector;
  readonly metric: string;
  readonly metricSelector: LabelSelector;
}

/** Provides the external metrics API. */
export interface ExternalMetricsProvider {
  /** Names for discovery, sorted; the same array until they change. */
  metrics(): readonly string[];
  /**
   * @returns `undefined` if the metric does not exist
   * @throws {StatusError} that is returned to the client
   */
  values(
    namespace: string,
    query: { readonly metric: string; readonly selector: LabelSelector },
  ): readonly ExternalValue[] | undefined;
}

/** A custom metric in discovery. */
export interface DiscoveredMetric {
  readonly resource: string;
  readonly metric: string;
  readonly isNamespaced: boolean;
}

/** Provides the custom metrics API. */
export interface CustomMetricsProvider {
  /** Sorted; the same array until the metrics change. */
  metrics(): readonly DiscoveredMetric[];
  /**
   * @returns values sorted by name; `undefined` if the named object has none, or the metric does not exist
   * @throws {StatusError} that is returned to the client
   */
  values(query: ObjectMetricQuery): readonly ObjectValue[] | undefined;
}
