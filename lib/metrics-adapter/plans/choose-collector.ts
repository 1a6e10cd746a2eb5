import { nameOfMetric } from '../annotations/collected-metrics.ts';
import type { CollectorRequest, MetricCollector } from '../collectors/metric-collector.ts';

/** A label or an annotation names a collector that there is not. */
export class UnknownCollector extends Error {}

/** Of collectors that there are only where flags say what to ask. */
const NEEDED_FLAGS: ReadonlyMap<string, string> = new Map([
  ['requests-per-second', '--prometheus-server and --external-rps-metrics'],
  ['sqs-queue-length', '--aws-external-metrics'],
  ['zmon', '--zmon-kariosdb-endpoint'],
  ['nakadi', '--nakadi-endpoint'],
]);

/** Who collects a metric, `undefined` where it is none of ours, or why it cannot be told. */
export type ChosenCollector = MetricCollector | undefined | Error;

/**
 * Chooses the collector of a metric: for an External metric by the label `type`, else by annotation, else by a known
 * name of the metric; for others by annotation, else by the kind of their object. What none of these claims is another
 * provider's. Of a metric with a known name, or about an object of such a kind, annotations may call the collector what
 * they like, as they may in kube-metrics-adapter.
 */
export function chooseCollector(
  collectors: readonly MetricCollector[],
  { metric, config }: CollectorRequest,
): ChosenCollector {
  const ofType = collectors.filter(({ types }) => types.includes(metric.type));
  const byName = (name: string) => ofType.find((collector) => collector.name === name);
  const byLegacyMetric = (name: string) =>
    metric.type === 'External' ? ofType.find(({ legacyMetrics }) => legacyMetrics.includes(name)) : undefined;
  const label = metric.type === 'External' ? metric.matchLabels.type : undefined;
  if (label !== undefined) {
    const labelled = byName(label) ?? (config && byLegacyMetric(label));
    return labelled ?? (config && unknown(`Label type of the metric's selector`, label, ofType, metric));
  }
  const claimed = ofType.find(({ claims }) => claims?.(metric)) ?? byLegacyMetric(metric.name);
  if (!config) return claimed;
  const place = `The collector of annotations of ${nameOfMetric(metric)}`;
  return byName(config.collector) ?? claimed ?? unknown(place, config.collector, ofType, metric);
}

function unknown(
  place: string,
  name: string,
  known: readonly MetricCollector[],
  { type }: CollectorRequest['metric'],
): Error {
  const flags = type === 'External' ? NEEDED_FLAGS.get(name) : undefined;
  if (flags) return new UnknownCollector(`${place} is ${name}, for which the autoscaler needs ${flags}`);
  const names = known.map((collector) => collector.name).join(', ');
  return new UnknownCollector(
    `${place} must be one for metrics of type ${type} (${names}), not ${JSON.stringify(name)}`,
  );
}
