import { Counter, Gauge, Histogram } from 'prom-client';
import {
  ExponentialHistogram,
  LabelledGauges,
  LabelledHistograms,
  type SlicedRegistry,
} from '#lib/telemetry/sliced-registry.ts';
import type { CycleOutcome } from './manager.ts';
import type { Stage } from './pipeline-observers.ts';
import { ExcessiveResponse } from './scrape/response-bounds.ts';
import { NeverAsked } from './scrape/scrape-error.ts';
import type { ScrapeOutcome } from './scrape/scraper.ts';
import type { StaleCounts, StoragePoints } from './sink/metrics-sink.ts';

/** What the series are told by. */
interface ResourceMetricsTelemetryOptions {
  readonly registry: SlicedRegistry;
  readonly requestTimeoutMs: number;
  readonly resolutionMs: number;
  readonly storagePoints: () => StoragePoints;
  readonly staleCounts: () => StaleCounts;
}

/** Prometheus' default buckets, in seconds. */
const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * The series of this subsystem. Names, labels and buckets of `metrics_server_*` are the reference's, so that
 * dashboards and alerts made for it work.
 */
export class ResourceMetricsTelemetry {
  readonly #requestDuration: LabelledHistograms;
  readonly #requests: Counter<'success'>;
  readonly #lastRequestTime: LabelledGauges;
  readonly #freshness: ExponentialHistogram;
  readonly #ignored: Counter;
  readonly #unasked: Counter;
  readonly #excessive: Counter<'bound'>;
  readonly #cycleDuration: Histogram;
  readonly #skippedCycles: Counter;
  readonly #stageFailures: Counter<'stage'>;

  constructor({ registry, requestTimeoutMs, resolutionMs, ...sink }: ResourceMetricsTelemetryOptions) {
    const registers = [registry];
    this.#requestDuration = new LabelledHistograms({
      name: 'metrics_server_kubelet_request_duration_seconds',
      help: 'Duration of requests to Kubelet API in seconds',
      label: 'node',
      buckets: bucketsUpTo(requestTimeoutMs),
    });
    registry.add(this.#requestDuration);
    this.#requests = new Counter({
      name: 'metrics_server_kubelet_request_total',
      help: 'Number of requests sent to Kubelet API',
      labelNames: ['success'],
      registers,
    });
    this.#lastRequestTime = new LabelledGauges({
      name: 'metrics_server_kubelet_last_request_time_seconds',
      help: 'Time of last request performed to Kubelet API since unix epoch in seconds',
      label: 'node',
    });
    registry.add(this.#lastRequestTime);
    this.#freshness = new ExponentialHistogram({
      name: 'metrics_server_api_metric_freshness_seconds',
      help: 'Freshness of metrics exported',
      start: 1,
      factor: 1.364,
      buckets: 20,
    });
    registry.add(this.#freshness);
    this.#ignored = new Counter({
      name: 'metrics_server_kubelet_ignored_parts_total',
      help: "Number of parts of kubelets' responses (pods, lines) that were left out because they could not be read.",
      registers,
    });
    this.#unasked = new Counter({
      name: 'metrics_server_kubelet_unasked_total',
      help: 'Number of times that a cycle left out a kubelet that has waited to be asked for more than a cycle, because there were too many TLS handshakes to do.',
      registers,
    });
    this.#excessive = new Counter({
      name: 'metrics_server_kubelet_excessive_responses_total',
      help: "Number of kubelets' responses that were refused because they went past a bound, by bound.",
      labelNames: ['bound'],
      registers,
    });
    this.#cycleDuration = new Histogram({
      name: 'metrics_server_manager_tick_duration_seconds',
      help: 'The total time spent collecting and storing metrics in seconds.',
      buckets: bucketsUpTo(resolutionMs),
      registers,
    });
    this.#skippedCycles = new Counter({
      name: 'metrics_server_manager_skipped_ticks_total',
      help: 'Number of cycles that were left out because the one before them took too long.',
      registers,
    });
    this.#stageFailures = new Counter({
      name: 'metrics_server_stage_failures_total',
      help: 'Number of times that a stage of the pipeline failed by an error in this program.',
      labelNames: ['stage'],
      registers,
    });
    new Gauge({
      name: 'metrics_server_storage_points',
      help: 'Number of metrics points stored.',
      labelNames: ['type'],
      registers,
      collect() {
        for (const [type, count] of Object.entries(sink.storagePoints())) this.set({ type }, count);
      },
    });
    new Gauge({
      name: 'metrics_server_storage_stale',
      help: 'Number of nodes and pods that are served as they were before a lost scrape.',
      labelNames: ['type'],
      registers,
      collect() {
        for (const [type, count] of Object.entries(sink.staleCounts())) this.set({ type }, count);
      },
    });
  }

  recordScrape({ nodeName, startedAtMs, durationMs, error, ignored }: ScrapeOutcome): void {
    if (error?.cause instanceof NeverAsked) {
      this.#unasked.inc();
      return;
    }
    this.#requestDuration.observe(nodeName, durationMs / 1000);
    this.#requests.inc({ success: String(error === undefined) });
    this.#lastRequestTime.set(nodeName, Math.floor(startedAtMs / 1000));
    this.#ignored.inc(ignored.length);
    if (error?.cause instanceof ExcessiveResponse) this.#excessive.inc({ bound: error.cause.bound });
  }

  /** @param timestamps the ends of what was averaged, and how many were served now of each */
  recordServed(timestamps: ReadonlyMap<number, number>, nowMs: number): void {
    for (const [timestampMs, count] of timestamps) {
      const ageMs = Math.max(nowMs - timestampMs, 0); // a kubelet's clock may be ahead of ours
      this.#freshness.observe(ageMs / 1000, count);
    }
  }

  recordCycle({ durationMs, skippedCycles }: CycleOutcome): void {
    this.#cycleDuration.observe(durationMs / 1000);
    this.#skippedCycles.inc(skippedCycles);
  }

  recordStageFailure(stage: Stage): void {
    this.#stageFailures.inc({ stage });
  }

  /** Removes the series of nodes that are gone. */
  retain(isLive: (nodeName: string) => boolean): void {
    this.#requestDuration.retain(isLive);
    this.#lastRequestTime.retain(isLive);
  }
}

/** The default buckets, and around a longer timeout some more by which to tell what ran into it. */
function bucketsUpTo(timeoutMs: number): number[] {
  const longest = DEFAULT_BUCKETS.at(-1) ?? 0;
  const timeout = timeoutMs / 1000;
  if (timeout <= longest) return DEFAULT_BUCKETS;
  return [...DEFAULT_BUCKETS, longest + (timeout - longest) / 2, timeout, timeout * 1.5, timeout * 2];
}
