import { Counter, Gauge, Histogram } from 'prom-client';
import { exposition } from '#lib/telemetry/exposition.ts';
import {
  ExponentialHistogram,
  LabelledHistograms,
  type SlicedRegistry,
} from '#lib/telemetry/sliced-registry.ts';
import type { CycleOutcome } from './manager.ts';
import type { Stage } from './pipeline-observers.ts';
import { ExcessiveResponse } from './scrape/response-bounds.ts';
import { NotScrapedError } from './scrape/scrape-error.ts';
import type { ScrapeOutcome } from './scrape/scraper.ts';
import type { StaleCounts, StoragePoints } from './sink/metrics-sink.ts';

interface PipelineMetricsOptions {
  readonly registry: SlicedRegistry;
  readonly requestTimeoutMs: number;
  readonly resolutionMs: number;
  readonly storagePoints: () => StoragePoints;
  readonly staleCounts: () => StaleCounts;
}

/** Prometheus' defaults, in seconds. */
const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Series of the pipeline. `metrics_server_*` have metrics-server's names, labels and buckets, for existing
 * dashboards.
 */
export class PipelineMetrics {
  readonly #requestDuration: LabelledHistograms;
  readonly #requests: Counter<'success'>;
  /** In seconds since the epoch, by node. */
  readonly #lastRequestTime = new Map<string, number>();
  readonly #freshness: ExponentialHistogram;
  readonly #ignored: Counter;
  readonly #notScraped: Counter;
  readonly #excessive: Counter<'bound'>;
  readonly #cycleDuration: Histogram;
  readonly #skippedCycles: Counter;
  readonly #stageFailures: Counter<'stage'>;

  constructor({ registry, requestTimeoutMs, resolutionMs, ...sink }: PipelineMetricsOptions) {
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
    const lastRequestTime = {
      name: 'metrics_server_kubelet_last_request_time_seconds',
      help: 'Time of last request performed to Kubelet API since unix epoch in seconds',
      type: 'gauge',
      samples: ([node, value]: [string, number]) => [{ labels: { node }, value }],
    } as const;
    registry.add(exposition([lastRequestTime], () => [...this.#lastRequestTime]));
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
      help: "Number of unreadable parts of kubelets' responses (pods, lines) that were ignored.",
      registers,
    });
    this.#notScraped = new Counter({
      name: 'metrics_server_kubelet_unasked_total',
      help: 'Number of scrapes skipped in a cycle because an earlier scrape of the node waited for more than a cycle, due to too many TLS handshakes.',
      registers,
    });
    this.#excessive = new Counter({
      name: 'metrics_server_kubelet_excessive_responses_total',
      help: "Number of kubelets' responses rejected because they exceeded a limit, by limit.",
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
      help: 'Number of cycles skipped because the previous one took too long.',
      registers,
    });
    this.#stageFailures = new Counter({
      name: 'metrics_server_stage_failures_total',
      help: 'Number of internal errors of pipeline stages.',
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
      help: 'Number of nodes and pods whose metrics are served from an earlier scrape, because the latest scrape failed.',
      labelNames: ['type'],
      registers,
      collect() {
        for (const [type, count] of Object.entries(sink.staleCounts())) this.set({ type }, count);
      },
    });
  }

  recordScrape({ nodeName, startedAtMs, durationMs, error, ignored }: ScrapeOutcome): void {
    if (error?.cause instanceof NotScrapedError) {
      this.#notScraped.inc();
      return;
    }
    this.#requestDuration.observe(nodeName, durationMs / 1000);
    this.#requests.inc({ success: String(error === undefined) });
    this.#lastRequestTime.set(nodeName, Math.floor(startedAtMs / 1000));
    this.#ignored.inc(ignored.length);
    if (error?.cause instanceof ExcessiveResponse) this.#excessive.inc({ bound: error.cause.bound });
  }

  /** @param timestamps numbers of usages served, by their timestamp */
  recordServed(timestamps: ReadonlyMap<number, number>, nowMs: number): void {
    for (const [timestampMs, count] of timestamps) {
      const ageMs = Math.max(nowMs - timestampMs, 0); // a kubelet's clock may be ahead of the local one
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

  /** Removes nodes that are no longer live. */
  retain(isLive: (nodeName: string) => boolean): void {
    this.#requestDuration.retain(isLive);
    for (const name of this.#lastRequestTime.keys()) if (!isLive(name)) this.#lastRequestTime.delete(name);
  }
}

/** Adds buckets around a longer timeout, so that expired requests can be distinguished. */
function bucketsUpTo(timeoutMs: number): number[] {
  const maxBucket = DEFAULT_BUCKETS.at(-1) ?? 0;
  const timeout = timeoutMs / 1000;
  if (timeout <= maxBucket) return DEFAULT_BUCKETS;
  return [...DEFAULT_BUCKETS, maxBucket + (timeout - maxBucket) / 2, timeout, timeout * 1.5, timeout * 2];
}
