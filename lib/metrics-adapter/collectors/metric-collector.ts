import type { Query } from '#lib/sources/query.ts';
import type { HpaMetric, ScaledHpa } from '../annotations/collected-metrics.ts';
import type { CollectorConfig } from '../annotations/read-annotations.ts';
import type { SettingsSchema } from './setting-kinds.ts';

/** A metric that is to be collected, and everything that is said of it. */
export interface CollectorRequest {
  readonly hpa: ScaledHpa;
  readonly metric: HpaMetric;
  /** `undefined` where no annotation speaks of it. */
  readonly config: CollectorConfig | undefined;
}

/** A way to collect metrics. */
export interface MetricCollector {
  /** As annotations and the label `type` name it. */
  readonly name: string;
  /** Names of External metrics that mean this collector without a label `type`, as was usual once; also as that label beside annotations. */
  readonly legacyMetrics: readonly string[];
  readonly types: readonly HpaMetric['type'][];
  /** What annotations and labels may say to it, each with its description. */
  readonly settings: SettingsSchema;
  /** Whether a setting that is none of these means something nevertheless, as one that another names. */
  readonly takesAlso?: (name: string, settings: ReadonlyMap<string, SettingOrLabel>) => boolean;
  /** Whether a value is divided by the replicas of the HPA's target though no annotation says so. */
  readonly dividesByReplicas?: (metric: HpaMetric) => boolean;
  /** Whether all samples are served, as rows with labels of their own; by default the first alone. */
  readonly servesAll?: boolean;
  /** Whether a metric that no annotation speaks of is nevertheless its own, as by the kind of its object. */
  readonly claims?: (metric: HpaMetric) => boolean;
  /** Calls a listener whenever {@link queryOf} would say something else than before, for what no HPA says. */
  onChange?(listener: () => void): void;
  /** @throws an Error that says which annotation or label cannot be used, or what is missing */
  queryOf(request: CollectorRequest): Query;
}

/** Settings of a collector: the labels of the metric's selector, and over them those of annotations. */
export function settingsOf({ metric, config }: CollectorRequest): ReadonlyMap<string, SettingOrLabel> {
  const labels = Object.entries(metric.matchLabels).map(
    ([name, value]) => [name, { value, place: `Label ${name} of the metric's selector` }] as const,
  );
  return new Map([...labels, ...(config?.settings ?? [])]);
}

/** A value and where it stands, as errors name it. */
export interface SettingOrLabel {
  readonly value: string;
  readonly place: string;
}
