import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Collection } from '#lib/collection/collection.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { nameOfMetric } from '../collected-metrics.ts';
import type { HpaCollectors } from '../plans/hpa-collectors.ts';

interface MetricsAdapterSeriesOptions {
  readonly registry: Registry;
  /** By the wall clock. */
  readonly nowMs: () => number;
  /** The collected metrics, evaluated whenever the series are read. */
  readonly collected: () => Iterable<CollectedState>;
}

/** Counts events as they happen. */
export interface MetricsAdapterSeries {
  /** Records a request to a source, by its name. */
  recordQuery(
    source: string | undefined,
    result: { readonly durationMs: number; readonly error: Error | undefined },
  ): void;
  /** Records that an HPA's collectors were updated, or failed to be. */
  recordUpdate(error: unknown): void;
}

/** Of hosts, which all users who may annotate an HPA can choose; further ones are counted together. */
const MAX_SOURCES = 100;
const MAX_SOURCE_LENGTH = 260;
const OTHERS = 'other';
const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30];

/** The series of kube-metrics-adapter under its names, and further ones about each collector's metrics. */
export function metricsAdapterSeries({
  registry,
  nowMs,
  collected,
}: MetricsAdapterSeriesOptions): MetricsAdapterSeries {
  const registers = [registry];
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const succeeded = counter(
    'kube_metrics_adapter_collections_success',
    'Number of successful queries of sources.',
  );
  const failed = counter('kube_metrics_adapter_collections_error', 'Number of failed queries of sources.');
  const updates = counter(
    'kube_metrics_adapter_updates_success',
    'Number of successful updates of the collectors of an HPA.',
  );
  const failedUpdates = counter(
    'kube_metrics_adapter_updates_error',
    'Number of failed updates of the collectors of an HPA, which are retried.',
  );
  const durations = new Histogram({
    name: 'autoscaler_source_request_duration_seconds',
    help: 'Duration of queries of sources in seconds, including failed queries.',
    labelNames: ['result'],
    buckets: BUCKETS_SECONDS,
    registers,
  });
  const requests = new Counter({
    name: 'autoscaler_source_requests_total',
    help: 'Number of queries by host or name of the source. Sources after the first 100 count as "other".',
    labelNames: ['source', 'result'],
    registers,
  });
  const seconds = new Counter({
    name: 'autoscaler_source_request_seconds_total',
    help: 'Total duration of queries in seconds, by host or name of the source.',
    labelNames: ['source'],
    registers,
  });
  const sources = new Set<string>();
  const boundedSource = (given: string) => {
    if (sources.size < MAX_SOURCES && given.length <= MAX_SOURCE_LENGTH) sources.add(given);
    return sources.has(given) ? given : OTHERS;
  };
  const gauge = (name: string, help: string, measure: (states: readonly CollectedState[]) => number) =>
    new Gauge({
      ...{ name, help, registers, labelNames: ['collector'] },
      collect() {
        this.reset(); // series of collectors that are no longer used are removed
        for (const [collector, states] of Map.groupBy(collected(), (state) => state.collector ?? ''))
          this.set({ collector }, measure(states));
      },
    });
  const countOf = (is: (state: CollectedState) => boolean) => (states: readonly CollectedState[]) =>
    states.filter(is).length;
  gauge(
    'autoscaler_collected_metrics',
    'Number of collected metrics of HPAs.',
    countOf(() => true),
  );
  gauge(
    'autoscaler_collected_metrics_without_value',
    'Number of collected metrics that are not served, because their value has expired or they have no value yet.',
    countOf(({ isServed }) => !isServed),
  );
  gauge(
    'autoscaler_collected_metrics_failing',
    'Number of collected metrics for which the last query failed.',
    countOf(({ error }) => error !== undefined),
  );
  gauge(
    'autoscaler_collected_metrics_oldest_seconds',
    'Age of the oldest served value in seconds.',
    (states) => {
      const received = states.flatMap(({ isServed, receivedAtMs }) => (isServed ? (receivedAtMs ?? []) : []));
      return received.reduce((oldest, atMs) => Math.max(oldest, (nowMs() - atMs) / 1000), 0);
    },
  );
  return {
    recordQuery(given = OTHERS, { durationMs, error }) {
      const result = error ? 'error' : 'success';
      const source = boundedSource(given);
      (error ? failed : succeeded).inc();
      durations.observe({ result }, durationMs / 1000);
      requests.inc({ source, result });
      requests.inc({ source, result: error ? 'success' : 'error' }, 0); // both exist from the first request on
      seconds.inc({ source }, durationMs / 1000);
    },
    recordUpdate(error) {
      (error === undefined ? updates : failedUpdates).inc();
    },
  };
}

/** State of one collected metric of an HPA. */
export interface CollectedState {
  /** `namespace/name` */
  readonly hpa: string;
  /** As in messages. */
  readonly metric: string | undefined;
  readonly collector: string | undefined;
  /** Description of the query. */
  readonly query: string;
  readonly intervalMs: number;
  /** As returned by its source, undivided. */
  readonly value: number | undefined;
  readonly samples: number | undefined;
  readonly notes: readonly string[];
  readonly receivedAtMs: number | undefined;
  /** Whether the value is still valid. */
  readonly isServed: boolean;
  readonly nextInMs: number;
  readonly error: string | undefined;
  readonly failingSinceMs: number | undefined;
}

const NO_REPLICAS = 'The value is served per replica, but the status of the HPA has no replicas';

/** States of the collected metrics of HPAs, evaluated lazily. */
export function* collectedStates(
  { collected }: Pick<HpaCollectors, 'collected'>,
  collection: Pick<Collection, 'reports'>,
): IterableIterator<CollectedState> {
  for (const { owner, name, collector, reading, isValid, failure, nextInMs } of collection.reports()) {
    const { hpa, metrics } = collected.get(owner) ?? {};
    const metric = metrics?.find(({ key }) => key === name);
    const isUndivided = metric?.perReplica === true && !hpa?.replicas;
    yield {
      hpa: owner,
      metric: metric && nameOfMetric(metric.metric),
      collector: metric?.collector,
      query: collector.query.description,
      intervalMs: collector.intervalMs,
      value: reading?.samples[0]?.value,
      samples: reading?.samples.length,
      notes: [...(metric?.notes ?? []), ...(reading?.notes ?? []), ...(isUndivided ? [NO_REPLICAS] : [])],
      receivedAtMs: reading?.receivedAtMs,
      isServed: isValid && !isUndivided,
      nextInMs,
      error: failure && describeError(failure.error),
      failingSinceMs: failure?.sinceMs,
    };
  }
}
