import type { Query } from '#lib/sources/query.ts';
import { type ReadConfig, readAnnotations } from '../annotations/read-annotations.ts';
import { type HpaMetric, nameOfMetric, type ScaledHpa } from '../objects/scaled-hpa.ts';
import { chooseCollector } from './choose-collector.ts';
import type { MetricCollector } from './metric-collector.ts';

/** One metric of an HPA, and how it is collected. */
export interface PlannedCollector {
  /** Of this metric, among those of the HPA. */
  readonly key: string;
  readonly metric: HpaMetric;
  readonly collector: string;
  readonly query: Query;
  /** Absent where the default counts. */
  readonly intervalMs?: number;
  /** Whether the value is divided by the replicas of the HPA's target. */
  readonly perReplica: boolean;
}

/** What cannot be collected of an HPA. */
export interface PlanProblem {
  /** As messages name the metric; empty where it is not known which one is meant. */
  readonly metric: string;
  readonly error: Error;
}

/** What is collected for an HPA, and what cannot be. */
export interface CollectorPlan {
  readonly planned: readonly PlannedCollector[];
  readonly problems: readonly PlanProblem[];
}

/** Works out what is to be collected for an HPA; metrics of other providers are in neither list. */
export function planCollectors(hpa: ScaledHpa, collectors: readonly MetricCollector[]): CollectorPlan {
  const configs = readAnnotations(hpa.annotations);
  const planned = new Map<string, PlannedCollector>();
  const problems: PlanProblem[] = [];
  for (const one of configs)
    if ('error' in one && one.metric === undefined) problems.push({ metric: '', error: one.error });
  for (const metric of hpa.metrics) {
    const mine = configs.filter((one) => isOf(one, metric));
    const key = keyOfMetric(metric);
    try {
      const made = plan({ hpa, metric, mine, collectors });
      if (made) planned.set(key, { key, metric, ...made });
    } catch (error) {
      const cause = error instanceof Error ? error : new Error(String(error));
      problems.push({ metric: nameOfMetric(metric), error: cause });
    }
  }
  return { planned: [...planned.values()], problems };
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
  const { perReplica = false, intervalMs } = request.config ?? {};
  return {
    collector: collector.name,
    query: collector.queryOf(request),
    perReplica: perReplica && metric.type === 'Object',
    ...(intervalMs === undefined ? {} : { intervalMs }),
  };
}

function isOf(read: ReadConfig, { type, name }: HpaMetric): boolean {
  const { type: configType, metric } = 'config' in read ? read.config : read;
  return configType === type && metric === name;
}

/** Tells metrics of one HPA apart: two of the same name may differ in their selectors or objects. */
export function keyOfMetric({ type, name, matchLabels, describedObject }: HpaMetric): string {
  const labels = Object.entries(matchLabels).sort(([a], [b]) => (a < b ? -1 : 1));
  const { apiVersion = '', kind = '', name: object = '' } = describedObject ?? {};
  return JSON.stringify([type, name, labels, apiVersion, kind, object]);
}
