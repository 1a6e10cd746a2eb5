import type { Query } from '#lib/sources/query.ts';
import { toError } from '#lib/telemetry/error-text.ts';
import { type HpaMetric, nameOfMetric, type ScaledHpa } from '../collected-metrics.ts';
import { type CollectorRequest, type MetricCollector, settingsOf } from '../collectors/metric-collector.ts';
import { type ReadConfig, readAnnotations, type Setting } from '../read-annotations.ts';
import type { PlannedCollector, PlanProblem } from './collected-hpa.ts';
import { severalSamples } from './query-notices.ts';

/** Collected metrics of an HPA, and problems of others. */
interface CollectorPlan {
  readonly planned: readonly PlannedCollector[];
  readonly problems: readonly PlanProblem[];
}

const MAX_NOTES = 10;
/** Bounds the queries of one HPA. */
const MAX_METRICS = 100;
const TOO_MANY = `Only the first ${MAX_METRICS} metrics of an HPA are collected`;
/** Two are too many already. */
const MAX_CONFIGS = 10;

/** Plans the collectors of an HPA; metrics of other providers are in neither list. */
export function planCollectors(hpa: ScaledHpa, collectors: readonly MetricCollector[]): CollectorPlan {
  const configs = readAnnotations(hpa.annotations);
  const planned = new Map<string, PlannedCollector>();
  const problems: PlanProblem[] = [];
  if (hpa.omitted !== undefined) problems.push({ metric: '', error: new Error(hpa.omitted) });
  for (const one of configs)
    if ('error' in one && one.metric === undefined)
      problems.push({ metric: '', error: one.error, ...(one.isQuiet && { isQuiet: true }) });
  const byMetric = new Map<string, ReadConfig[]>();
  for (const one of configs) {
    const of = subjectOf('config' in one ? one.config : one);
    byMetric.set(of, [...(byMetric.get(of) ?? []), one].slice(0, MAX_CONFIGS));
  }
  const unclaimed: HpaMetric[] = [];
  if (hpa.metrics.length > MAX_METRICS) problems.push({ metric: '', error: new Error(TOO_MANY) });
  for (const metric of hpa.metrics.slice(0, MAX_METRICS)) {
    const mine = byMetric.get(subjectOf({ type: metric.type, metric: metric.name })) ?? [];
    const key = keyOfMetric(metric);
    try {
      const made = plan({ hpa, metric, mine, collectors });
      if (made) planned.set(key, { key, metric, ...made });
      else unclaimed.push(metric);
    } catch (error) {
      const cause = toError(error);
      problems.push({ metric: nameOfMetric(metric), error: cause });
    }
  }
  return {
    planned: [...planned.values()],
    problems: [...problems, ...unusedConfigs(hpa, { configs, unclaimed })],
  };
}

/**
 * Annotations about metrics that are not in the spec. If the spec has an uncollected metric of the same type, a name is
 * misspelled, and that metric is missing; else they are probably leftovers.
 */
function unusedConfigs(
  { metrics }: ScaledHpa,
  {
    configs,
    unclaimed,
  }: { readonly configs: readonly ReadConfig[]; readonly unclaimed: readonly HpaMetric[] },
): readonly PlanProblem[] {
  const requested = new Set(metrics.map(nameOfMetric));
  const named = new Map<string, HpaMetric['type']>();
  for (const one of configs) {
    const { type, metric } = 'config' in one ? one.config : one;
    if (type !== undefined && metric !== undefined) named.set(nameOfMetric({ type, name: metric }), type);
  }
  return [...named]
    .filter(([name]) => !requested.has(name))
    .slice(0, MAX_NOTES)
    .map(([name, type]) => {
      const configured = `Annotations configure ${name}, which no metric of the HPA uses`;
      const meant = someOf(unclaimed.filter((metric) => metric.type === type).map(nameOfMetric));
      if (meant) {
        const error = new Error(`${configured}; the HPA uses ${meant}, which nothing collects`);
        return { metric: shown(name), error, meant };
      }
      const error = new Error(
        `${configured}; the HPA uses ${someOf([...requested]) || 'only resource metrics'}`,
      );
      return { metric: shown(name), error, isQuiet: true };
    });
}

function someOf(names: readonly string[]): string {
  return [...new Set(names)].slice(0, 3).map(shown).join(', ');
}

/** At most as long as an object's name. */
function shown(name: string): string {
  return name.slice(0, 253);
}

function plan({
  hpa,
  metric,
  mine,
  collectors,
}: {
  readonly hpa: ScaledHpa;
  readonly metric: HpaMetric;
  readonly mine: readonly ReadConfig[];
  readonly collectors: readonly MetricCollector[];
}): Omit<PlannedCollector, 'key' | 'metric'> | undefined {
  for (const one of mine) if ('error' in one) throw one.error;
  const read = mine.flatMap((one) => ('config' in one ? [one.config] : []));
  if (read.length > 1) {
    const names = read.map(({ collector }) => collector).sort();
    throw new Error(`Annotations configure ${nameOfMetric(metric)} more than once: ${names.join(', ')}`);
  }
  const request = { hpa, metric, config: read[0] };
  const collector = chooseCollector(collectors, request);
  if (collector instanceof Error) throw collector;
  if (!collector) return undefined;
  const { perReplica, intervalMs } = request.config ?? {};
  const query = collector.queryOf(request);
  return {
    collector: collector.name,
    query: metric.type === 'Pods' || collector.servesAll ? query : firstOf(query),
    perReplica:
      (perReplica !== undefined || collector.dividesByReplicas?.(metric) === true) &&
      metric.type === 'Object',
    servesAll: collector.servesAll ?? false,
    notes: [
      ...unmatchedExpressions(metric),
      ...meantOtherwise(metric, perReplica),

      ...unknownSettings(collector, request),
    ],
    ...(intervalMs === undefined ? {} : { intervalMs }),
  };
}

/** A query that uses the first sample, and adds a note if there are more. */
function firstOf(query: Query): Query {
  return {
    ...query,
    async run(signal, note) {
      const samples = await query.run(signal, note);
      if (samples.length > 1) note?.(severalSamples(samples.length));
      return samples;
    },
  };
}

/** Expressions are not settings, and the HPA controller gets nothing where no label of the value matches them. */
function unmatchedExpressions({ matchLabels, expressionKeys = [] }: HpaMetric): readonly string[] {
  const unknown = expressionKeys.filter((key) => !Object.hasOwn(matchLabels, key)).map(shown);
  if (unknown.length === 0) return [];
  const names = unknown.slice(0, MAX_NOTES).join(', ');
  return [
    `matchExpressions with the keys ${names} are not settings of the collector: the HPA gets no value unless the source returns labels that match them`,
  ];
}

/** Where `per-replica` does not have the effect that it seems to have. */
function meantOtherwise({ type }: HpaMetric, perReplica: Setting | undefined): readonly string[] {
  if (!perReplica) return [];
  const { place, value } = perReplica;
  if (type !== 'Object') return [`${place} has no effect for a metric of type ${type}`];
  return /^(false|no|off|0)$/i.test(value.trim())
    ? [
        `${place} divides the value even if it is ${JSON.stringify(value)}; to use the value undivided, remove the setting`,
      ]
    : [];
}

/** Reports annotations that are not settings of the collector, since they may be typos. */
function unknownSettings(
  { name: collector, settings: { shape }, takesAlso }: MetricCollector,
  request: CollectorRequest,
): readonly string[] {
  const all = settingsOf(request);
  return [...(request.config?.settings ?? [])]
    .filter(([name]) => !Object.hasOwn(shape, name) && !takesAlso?.(name, all))
    .map(([, { place }]) => `${place} is not a setting of collector ${collector}`)
    .slice(0, MAX_NOTES);
}

function subjectOf({
  type,
  metric,
}: {
  readonly type: HpaMetric['type'] | undefined;
  readonly metric: string | undefined;
}): string {
  return JSON.stringify([type, metric]);
}

/** Identifies a metric of one HPA: two of the same name may have different selectors or objects. */
function keyOfMetric({ type, name, matchLabels, describedObject }: HpaMetric): string {
  const labels = Object.entries(matchLabels).sort(([a], [b]) => (a < b ? -1 : 1));
  const { apiVersion = '', kind = '', name: object = '' } = describedObject ?? {};
  return JSON.stringify([type, name, labels, apiVersion, kind, object]);
}

/** A label or an annotation names an unknown collector. */
export class UnknownCollector extends Error {}

/** Of collectors that flags enable. */
const NEEDED_FLAGS: ReadonlyMap<string, string> = new Map([
  ['requests-per-second', '--prometheus-server and --external-rps-metrics'],
  ['sqs-queue-length', '--aws-external-metrics'],
  ['zmon', '--zmon-kariosdb-endpoint'],
  ['nakadi', '--nakadi-endpoint'],
]);

/** The collector of a metric, `undefined` for a metric of another provider, or why it is undefined. */
type ChosenCollector = MetricCollector | undefined | Error;

/**
 * Chooses the collector of a metric: for an External metric by the label `type`, else by annotation, else by a reserved
 * name of the metric; for others by annotation, else by the kind of their object. Other metrics are another provider's.
 * For a metric with a reserved name, or about an object of such a kind, annotations may name any collector, as in
 * kube-metrics-adapter.
 */
function chooseCollector(
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
    return labelled ?? (config && unknown(label, 'in the label type of', ofType, metric));
  }
  const claimed = ofType.find(({ claims }) => claims?.(metric)) ?? byLegacyMetric(metric.name);
  if (!config) return claimed;
  return byName(config.collector) ?? claimed ?? unknown(config.collector, 'for', ofType, metric);
}

/** @param place of the name, before the name of the metric */
function unknown(
  name: string,
  place: string,
  available: readonly MetricCollector[],
  metric: CollectorRequest['metric'],
): Error {
  const flags = metric.type === 'External' ? NEEDED_FLAGS.get(name) : undefined;
  const where = `${place} ${nameOfMetric(metric)}`;
  if (flags) return new UnknownCollector(`Collector ${name} ${where} requires ${flags}`);
  const names = available.map((collector) => collector.name);
  const rule = names.length > 1 ? `${names.slice(0, -1).join(', ')} or ${names.at(-1)}` : names.join('');
  return new UnknownCollector(`Unknown collector ${JSON.stringify(name)} ${where}: must be ${rule}`);
}
