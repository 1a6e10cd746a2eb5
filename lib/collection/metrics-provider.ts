import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';

/** A value at some time. */
export interface MetricValue {
  /** A quantity in its canonical form. */
  readonly value: string;
  /** `undefined` where nobody knows it. */
  readonly takenAtMs: number | undefined;
  readonly windowSeconds?: number | undefined;
  /** What the source tells of it; absent where it tells nothing. */
  readonly sourceLabels?: Readonly<Record<string, string>> | undefined;
}

/** A value of the external metrics API. */
export interface ExternalValue extends MetricValue {
  readonly metric: string;
  /** `undefined` where it has no map of them. */
  readonly labels: Readonly<Record<string, string>> | undefined;
}

/** A value of an object. */
export interface ObjectValue extends MetricValue {
  readonly object: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
    /** Empty for what has no namespace. */
    readonly namespace: string;
    readonly name: string;
  };
}

/** Which objects' values are wanted. */
export interface ObjectMetricQuery {
  /** As it stands in the path: `pods`, `deployments.apps`. */
  readonly resource: string;
  /** Empty for what has no namespace. */
  readonly namespace: string;
  /** `undefined` for all objects that the selector matches. */
  readonly name: string | undefined;
  readonly labelSelector: LabelSelector;
  readonly metric: string;
  readonly metricSelector: LabelSelector;
}

/** Where the values of external metrics come from. */
export interface ExternalMetricsProvider {
  /** Names to be discovered, sorted; the same array for as long as nothing changes. */
  metrics(): readonly string[];
  /**
   * @returns `undefined` where there is no such metric
   * @throws {StatusError} for the client
   */
  values(
    namespace: string,
    query: { readonly metric: string; readonly selector: LabelSelector },
  ): readonly ExternalValue[] | undefined;
}

/** A metric of objects, to be discovered. */
export interface DiscoveredMetric {
  readonly resource: string;
  readonly metric: string;
  readonly isNamespaced: boolean;
}

/** Where the values of objects come from. */
export interface CustomMetricsProvider {
  /** Sorted; the same array for as long as nothing changes. */
  metrics(): readonly DiscoveredMetric[];
  /**
   * @returns values sorted by name; `undefined` where there is none by that name, or no such metric of any object
   * @throws {StatusError} for the client
   */
  values(query: ObjectMetricQuery): readonly ObjectValue[] | undefined;
}
