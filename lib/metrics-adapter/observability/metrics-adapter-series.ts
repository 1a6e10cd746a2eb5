import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Collection } from '#lib/collection/collection.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { nameOfMetric } from '../collected-metrics.ts';
import type { HpaCollectors } from '../plans/hpa-collectors.ts';

/** What the series are made of. */
interface MetricsAdapterSeriesOptions {
  readonly registry: Registry;
  /** By the wall clock. */
  readonly nowMs: () => number;
  /** What is collected, asked for whenever the series are read. */
  readonly collected: () => Iterable<CollectedState>;
}

/** Counts what is told as it happens. */
export interface MetricsAdapterSeries {
  /** A source was asked, by its name. */
  asked(
    source: string | undefined,
    result: { readonly durationMs: number; readonly error: Error | undefined },
  ): void;
  /** An HPA's collectors were brought up to date, or could not be. */
  updated(error: unknown): void;
}

/** Of hosts, which anybody may name who may annotate an HPA; those after them are counted together. */
const MAX_SOURCES = 100;
const MAX_SOURCE_LENGTH = 260;
const OTHERS = 'other';
const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30];

/** The series of kube-metrics-adapter under its names, and beside them how each collector's metrics fare. */
export function metricsAdapterSeries({
  registry,
  nowMs,
  collected,
}: MetricsAdapterSeriesOptions): MetricsAdapterSeries {
  const registers = [registry];
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const succeeded = counter(
    'kube_metrics_adapter_collections_success',
    'Requests of sources that gave a result.',
  );
  const failed = counter('kube_metrics_adapter_collections_error', 'Requests of sources that gave none.');
  const updates = counter(
    'kube_metrics_adapter_updates_success',
    'HPAs whose collectors were brought up to date.',
  );
  const failedUpdates = counter(
    'kube_metrics_adapter_updates_error',
    'HPAs whose collectors could not be brought up to date; they are tried again.',
  );
  const durations = new Histogram({
    name: 'autoscaler_source_request_duration_seconds',
    help: 'How long sources took to respond, or to fail.',
    labelNames: ['result'],
    buckets: BUCKETS_SECONDS,
    registers,
  });
  const requests = new Counter({
    name: 'autoscaler_source_requests_total',
    help: 'Requests of sources by host or name, of the first 100; those of all others are of "other".',
    labelNames: ['source', 'result'],
    registers,
  });
  const seconds = new Counter({
    name: 'autoscaler_source_request_seconds_total',
    help: 'How long requests of sources took together, by host or name as above.',
    labelNames: ['source'],
    registers,
  });
  const sources = new Set<string>();
  const knownSource = (given: string) => {
    if (sources.size < MAX_SOURCES && given.length <= MAX_SOURCE_LENGTH) sources.add(given);
    return sources.has(given) ? given : OTHERS;
  };
  const gauge = (name: string, help: string, measure: (states: readonly CollectedState[]) => number) =>
    new Gauge({
      ...{ name, help, registers, labelNames: ['collector'] },
      collect() {
        this.reset(); // a collector that is used no more has no series
        for (const [collector, states] of Map.groupBy(collected(), (state) => state.collector ?? ''))
          this.set({ collector }, measure(states));
      },
    });
  const countOf = (is: (state: CollectedState) => boolean) => (states: readonly CollectedState[]) =>
    states.filter(is).length;
  gauge(
    'autoscaler_collected_metrics',
    'Metrics of HPAs that are collected.',
    countOf(() => true),
  );
  gauge(
    'autoscaler_collected_metrics_without_value',
    'Metrics of HPAs that are not served, since no value counts any more, or none has come yet.',
    countOf(({ isServed }) => !isServed),
  );
  gauge(
    'autoscaler_collected_metrics_failing',
    'Metrics of HPAs whose last query failed.',
    countOf(({ error }) => error !== undefined),
  );
  gauge(
    'autoscaler_collected_metrics_oldest_seconds',
    'Age of the oldest value that is served.',
    (states) => {
      const received = states.flatMap(({ isServed, receivedAtMs }) => (isServed ? (receivedAtMs ?? []) : []));
      return received.reduce((oldest, atMs) => Math.max(oldest, (nowMs() - atMs) / 1000), 0);
    },
  );
  return {
    asked(given = OTHERS, { durationMs, error }) {
      const result = error ? 'error' : 'success';
      const source = knownSource(given);
      (error ? failed : succeeded).inc();
      durations.observe({ result }, durationMs / 1000);
      requests.inc({ source, result });
      requests.inc({ source, result: error ? 'success' : 'error' }, 0); // both are there from the first request
      seconds.inc({ source }, durationMs / 1000);
    },
    updated(error) {
      (error === undefined ? updates : failedUpdates).inc();
    },
  };
}

/** How the collecting of one metric of an HPA goes. */
export interface CollectedState {
  /** `namespace/name` */
  readonly hpa: string;
  /** As messages name it. */
  readonly metric: string | undefined;
  readonly collector: string | undefined;
  /** What is asked of which source. */
  readonly query: string;
  readonly intervalMs: number;
  /** As its source told it, undivided. */
  readonly value: number | undefined;
  readonly samples: number | undefined;
  readonly notes: readonly string[];
  readonly receivedAtMs: number | undefined;
  /** Whether the value still counts. */
  readonly isServed: boolean;
  readonly nextInMs: number;
  readonly error: string | undefined;
  readonly failingSinceMs: number | undefined;
}

const NO_REPLICAS =
  'It is served divided by the replicas of the target, of which the status of the HPA says that there are none';

/** What is collected for HPAs, and how that goes; each is worked out as it is asked for. */
export function* collectedStates(
  { known }: Pick<HpaCollectors, 'known'>,
  collection: Pick<Collection, 'reports'>,
): IterableIterator<CollectedState> {
  for (const { owner, name, collector, reading, isValid, failure, nextInMs } of collection.reports()) {
    const { hpa, metrics } = known.get(owner) ?? {};
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
