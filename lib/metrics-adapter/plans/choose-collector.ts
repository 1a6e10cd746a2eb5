import type { CollectorRequest, MetricCollector } from '../collectors/metric-collector.ts';
import { nameOfMetric } from '../objects/scaled-hpa.ts';

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
 * provider's.
 */
export function chooseCollector(
  collectors: readonly MetricCollector[],
  { metric, config }: CollectorRequest,
): ChosenCollector {
  const ofType = collectors.filter(({ types }) => types.includes(metric.type));
  const byName = (name: string) => ofType.find((collector) => collector.name === name);
  if (metric.type === 'External') {
    const labelled = byName(metric.matchLabels.type ?? '');
    if (labelled) return labelled;
    if (config && metric.matchLabels.type !== undefined)
      return unknown(`Label type of the metric's selector`, metric.matchLabels.type, ofType, metric);
  }
  if (config) {
    const place = `The collector of annotations of ${nameOfMetric(metric)}`;
    return byName(config.collector) ?? unknown(place, config.collector, ofType, metric);
  }
  return ofType.find(
    ({ legacyMetrics, claims }) =>
      claims?.(metric) || (metric.type === 'External' && legacyMetrics.includes(metric.name)),
  );
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
