import type {
  HpaStatus,
  MetricIdentifier,
  MetricSpec,
} from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { Hpa, HpaNeeds } from '#lib/kubernetes/objects/hpa-versions.ts';

/** A reference to the object of a metric. */
export interface DescribedObject {
  /** Such as `networking.k8s.io/v1`; absent where the HPA does not set it. */
  readonly apiVersion?: string | undefined;
  readonly kind: string;
  readonly name: string;
}

/** A metric of an HPA that a collector collects. */
export interface HpaMetric {
  readonly type: 'Pods' | 'Object' | 'External';
  readonly name: string;
  /** Of the metric's selector. */
  readonly matchLabels: Readonly<Record<string, string>>;
  /** The keys of the selector's expressions, if it has any. */
  readonly expressionKeys?: readonly string[];
  /** Of metrics of type Object only. */
  readonly describedObject?: DescribedObject;
  /** Of metrics of type Object: whether the target is an average per replica. */
  readonly targetsAverage?: boolean;
}

/** The parts of a HorizontalPodAutoscaler that the adapter caches. */
export interface ScaledHpa {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** As in the API, so that text order is time order; empty where it is unknown. */
  readonly createdAt: string;
  /** By key, those that configure collectors, including misspelled ones. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly scaleTargetRef: DescribedObject;
  /** The larger of the current and the desired replicas in its status; `undefined` while it has neither. */
  readonly replicas: number | undefined;
  readonly metrics: readonly HpaMetric[];
  /** Why its metrics are left out, and possibly its annotations; absent if they are not. */
  readonly omitted?: string;
}

/** A metric in messages: `External/queue-depth`. */
export function nameOfMetric({ type, name }: Pick<HpaMetric, 'type' | 'name'>): string {
  return `${type}/${name}`;
}

/** How the metrics adapter uses the informer of HPAs. */
export const SCALED_HPAS = {
  needs: {
    fields: ['customMetrics', 'replicas', 'creationTimestamp'],
    annotations: (key) => isConfigKey(key) || isMisspeltConfigKey(key),
  } satisfies HpaNeeds,
  view: readScaledHpa,
};

/** Reduces an HPA; `undefined` for one that neither has nor configures a collected metric, as far as it is cached. */
export function readScaledHpa({ metadata, spec, status, omitted }: Hpa): ScaledHpa | undefined {
  const metrics = (spec.metrics ?? []).map(metricOf).filter((metric) => metric !== undefined);
  const { namespace, name, uid, creationTimestamp = '', annotations: all = {} } = metadata;
  const annotations = Object.fromEntries(
    Object.entries(all).filter(([key]) => isConfigKey(key) || isMisspeltConfigKey(key)),
  );
  // An HPA that configures metrics without using any gets a message about that.
  if (metrics.length === 0 && Object.keys(annotations).length === 0 && omitted === undefined)
    return undefined;
  return {
    ...{ namespace, name, uid, annotations, metrics },
    createdAt: creationTimestamp,
    scaleTargetRef: spec.scaleTargetRef,
    replicas: replicasIn(status),
    ...(omitted !== undefined && { omitted }),
  };
}

/**
 * The controller writes the current count before it scales, and reads the metric again once the pods exist: divided by
 * the earlier count, the average would be too high, and it would scale up again.
 */
function replicasIn(status: HpaStatus | undefined): number | undefined {
  const { currentReplicas, desiredReplicas }: Partial<HpaStatus> = status ?? {};
  if (currentReplicas === undefined) return desiredReplicas;
  return Math.max(currentReplicas, desiredReplicas ?? 0);
}

function metricOf(metric: MetricSpec): HpaMetric | undefined {
  const { type } = metric;
  if (type === 'Pods') return { type, ...identified(metric.pods.metric) };
  if (type === 'External') return { type, ...identified(metric.external.metric) };
  if (type !== 'Object') return undefined;
  const { describedObject, target } = metric.object;
  const targetsAverage = target.averageValue !== undefined;
  return { type, ...identified(metric.object.metric), describedObject, targetsAverage };
}

function identified({
  name,
  selector,
}: MetricIdentifier): Pick<HpaMetric, 'name' | 'matchLabels' | 'expressionKeys'> {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  const expressionKeys = matchExpressions.map(({ key }) => key);
  return { name, matchLabels, ...(expressionKeys.length > 0 && { expressionKeys }) };
}

/** The annotation that configures collectors as a YAML list, whose metrics may have any names. */
export const LIST_KEY = 'metric-config/collectors';

/** Prefix of all other annotations that configure a collector. */
export const CONFIG_PREFIX = 'metric-config.';

/** Types that such an annotation may name after the prefix. */
export const CONFIG_TYPES = ['pods', 'object', 'external'] as const;

/** Whether an annotation may configure a collector. */
export function isConfigKey(key: string): boolean {
  return key === LIST_KEY || key.startsWith(CONFIG_PREFIX);
}

/**
 * Whether an annotation is a misspelled configuration: its first word is slightly wrong, or its second is unknown.
 * Similar annotations of others, such as those with a domain, do not count.
 */
export function isMisspeltConfigKey(key: string): boolean {
  if (isConfigKey(key)) return false;
  const [prefix = '', second = ''] = key.split(/[./]/, 2);
  const words = key[prefix.length] === '/' ? ['collectors'] : CONFIG_TYPES;
  return isAs(prefix, 'metric-config') && words.some((word) => isAs(second, word));
}

function isAs(word: string, expected: string): boolean {
  return word === expected || isMisspelling(word, expected);
}

/**
 * Whether one word equals another but for its case, or for one missing, extra or wrong letter; in a long word, two.
 *
 * A word of very different length is rejected at once, which bounds the work by the length of `expected`.
 */
export function isMisspelling(word: string, expected: string): boolean {
  const maxEdits = expected.length > 5 ? 2 : 1;
  if (word === expected || Math.abs(word.length - expected.length) > maxEdits) return false;
  // Edits between the prefix read of `word` and each prefix of `expected`.
  let edits = Array.from({ length: expected.length + 1 }, (_, index) => index);
  for (const [read, letter] of [...word.toLowerCase()].entries()) {
    const next = [read + 1];
    for (let index = 0; index < expected.length; index++) {
      const replaced = (edits[index] ?? 0) + (expected[index] === letter ? 0 : 1);
      next.push(Math.min(replaced, (edits[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    edits = next;
  }
  return (edits.at(-1) ?? 0) <= maxEdits;
}
