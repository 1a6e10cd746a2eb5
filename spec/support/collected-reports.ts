import type { CollectorReport } from '#lib/collection/collection.ts';
import type { DebuggedMetrics } from '#lib/metrics-adapter/observability/debug-metrics.ts';
import { ManualClock } from './manual-clock.ts';

const NOW_MS = Date.UTC(2026, 6, 15, 7);

/** A metric value that a source returned. */
export interface ReportedMetric {
  readonly value?: number;
  readonly samples?: number;
  readonly notes?: readonly string[];
  readonly error?: string;
  readonly isValid?: boolean;
}

/** The report of a collector of one owner, a minute after a response and two after the first failure. */
export function reportOf(
  owner: string,
  name: string,
  { value, samples = 1, notes = [], error, isValid }: ReportedMetric,
): CollectorReport {
  const all = Array.from({ length: samples }, () => ({ value, labels: {} }));
  const reading = value === undefined ? undefined : { samples: all, notes, receivedAtMs: NOW_MS - 60_000 };
  return {
    ...{ owner, name, reading, isValid: isValid ?? value !== undefined, nextInMs: 10_000 },
    collector: { query: { description: `up of ${name}` }, intervalMs: 15_000 },
    failure: error === undefined ? undefined : { error: new Error(error), sinceMs: NOW_MS - 120_000 },
  } as unknown as CollectorReport;
}

/** The content of the page of metrics. */
export interface ObservedMetrics {
  readonly reports?: readonly CollectorReport[];
  /** Problems of default/web. */
  readonly problems?: readonly string[];
  readonly collected?: { readonly perReplica: boolean; readonly replicas: number };
}

/** Metrics that HPAs named web and api request in two namespaces, in the form that pages show. */
export function metricsSource({ reports = [], problems = [], collected }: ObservedMetrics): DebuggedMetrics {
  const metric = { type: 'External', name: 'a', matchLabels: {} };
  const metrics = [{ key: 'a', metric, collector: 'counting', notes: [], perReplica: collected?.perReplica }];
  const hpa = { replicas: collected?.replicas };
  const names = ['default/web', 'default/api', 'other/web', 'other/api'];
  return {
    clock: new ManualClock(NOW_MS),
    collection: { reports: () => reports.values() },
    collectors: {
      collected: new Map(
        names.map((name) => {
          const errors = name === 'default/web' ? problems : [];
          const list = errors.map((text) => ({ metric: 'External/b', error: new Error(text) }));
          return [name, { hpa, metrics, problems: list }];
        }),
      ),
    },
  } as unknown as DebuggedMetrics;
}
