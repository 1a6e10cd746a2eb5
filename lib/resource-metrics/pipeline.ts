import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { SlicedRegistry } from '#lib/telemetry/sliced-registry.ts';
import type { Clock } from '#lib/time/clock.ts';
import { NodeTrends } from './debug/describe-node.ts';
import { Manager, SECOND_CYCLE_AFTER_MS } from './manager.ts';
import { scrapeTargetOf } from './nodes/node-address.ts';
import { NodeCache } from './nodes/node-cache.ts';
import { PodCache } from './nodes/pod-cache.ts';
import type { MetricsServerOptions } from './options.ts';
import { ResourceMetricsTelemetry } from './pipeline-metrics.ts';
import { PipelineObservers, StageGuard } from './pipeline-observers.ts';
import { EndpointChoice, kubeletEndpoints } from './scrape/endpoint-choice.ts';
import { createKubeletClient } from './scrape/kubelet/kubelet-client.ts';
import { ScrapeFailureLog } from './scrape/scrape-failure-log.ts';
import { ScrapeRecords } from './scrape/scrape-records.ts';
import { Scraper } from './scrape/scraper.ts';
import { SnapshotPublisher } from './scrape/snapshot-publisher.ts';
import { MetricsSink } from './sink/metrics-sink.ts';

/** What a pipeline needs from outside. */
export interface PipelineEnvironment {
  readonly access: ClusterAccess;
  readonly client: ApiClient;
  readonly registry: SlicedRegistry;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Publishes a snapshot, each time there is a new one; by default at once, and nothing else. */
  readonly replaceSnapshot?: (publish: () => void) => void;
  /** Told after each cycle how many nodes there are. */
  readonly onCycle?: ((nodes: number) => void) | undefined;
}

/** Everything that keeps the snapshot current, for those who serve and explain it; disposing it ends all. */
export interface Pipeline extends AsyncDisposable {
  readonly nodes: NodeCache;
  readonly pods: PodCache;
  readonly sink: MetricsSink;
  readonly manager: Manager;
  readonly telemetry: ResourceMetricsTelemetry;
  readonly scrapes: ScrapeRecords;
  readonly trends: NodeTrends;
  readonly guard: StageGuard;
  /** Begins to scrape, as soon as the nodes are known; comes back at once. */
  start(): void;
}

/**
 * Puts the stages together: nodes → scrape → batch → sink, driven by the manager. Nodes and pods are followed from
 * now on.
 *
 * @throws when a file that a flag names cannot be used
 */
export async function createPipeline(
  options: MetricsServerOptions,
  {
    access,
    client,
    registry,
    clock,
    logger,
    replaceSnapshot = (publish) => publish(),
    onCycle,
  }: PipelineEnvironment,
): Promise<Pipeline> {
  await using creating = new AsyncDisposableStack();
  const nodes = creating.use(new NodeCache({ client, clock, logger, selector: options.nodeSelector }));
  const pods = creating.use(new PodCache({ client, clock, logger }));

  const resolutionMs = options.metricResolutionMs;
  const { requestTimeoutMs } = options.kubelet;
  const sink = new MetricsSink({
    clock,
    resolutionMs,
    stalenessMs: options.metricStalenessMs,
    livePodUid: (key) => pods.find(key)?.uid,
  });
  const telemetry = new ResourceMetricsTelemetry({
    registry,
    requestTimeoutMs,
    resolutionMs,
    storagePoints: () => sink.storagePoints,
    staleCounts: () => sink.staleCounts,
  });
  const guard = new StageGuard({ clock, logger, onFailure: (stage) => telemetry.recordStageFailure(stage) });
  const failureLog = new ScrapeFailureLog(logger, clock);
  const scrapes = new ScrapeRecords();
  const trends = new NodeTrends();
  const kubelets = creating.use(await createKubeletClient(options.kubelet, { access, clock, logger }));
  const endpoints = new EndpointChoice(
    options.kubelet.metricsEndpoint,
    clock,
    kubeletEndpoints(new Set(options.extraResources)),
  );
  const observers = new PipelineObservers(guard, [
    {
      stage: 'telemetry',
      onScrape: (outcome) => telemetry.recordScrape(outcome),
      onCycle: (outcome) => telemetry.recordCycle(outcome),
      retain: (isLive) => telemetry.retain(isLive),
    },
    {
      stage: 'sink',
      onScrape: ({ nodeName, error }) => error && sink.lose(nodeName),
      retain: (isLive) => sink.retain(isLive),
    },
    {
      stage: 'log',
      onScrape: (outcome) => failureLog.record(outcome),
      retain: (isLive) => failureLog.retain(isLive),
    },
    { stage: 'nodes', onCycle: () => onCycle?.(nodes.size) },
    { stage: 'endpoints', retain: (isLive) => endpoints.retain(isLive) },
    {
      stage: 'debug',
      onScrape: (outcome) => scrapes.record(outcome),
      retain: (isLive) => scrapes.retain(isLive),
    },
    {
      stage: 'debug',
      onCycle: () => trends.record(sink.snapshot),
      retain: (isLive) => trends.retain(isLive),
    },
  ]);
  const running = new AbortController();
  const publish = () => guard.contain('sink', () => replaceSnapshot(() => sink.publish()));
  const scraper = new Scraper({
    clock,
    stopped: running.signal,
    client: kubelets,
    endpoints,
    random: Math.random,
    secondScrapeAfterMs: SECOND_CYCLE_AFTER_MS,
    targetOf: (node) => scrapeTargetOf(node, options.kubelet),
    receive: (batch) => guard.contain('sink', () => sink.receive(batch)),
    publisher: (patienceMs) => new SnapshotPublisher({ clock, patienceMs, publish }), // it decides when the sink publishes
    onScraped: (outcome) => {
      if (!running.signal.aborted) observers.scraped(outcome); // else nobody failed: it is we who left
    },
  });
  const manager = new Manager({
    clock,
    logger,
    resolutionMs,
    collect: async (signal, endsAtMs) => {
      guard.contain('sink', () => sink.beginCycle());
      const known = guard.contain('nodes', () => [...nodes.values()]);
      if (known) await scraper.scrape({ nodes: known, signal, endsAtMs });
    },
    onCycle: (outcome) => observers.cycleEnded(outcome, (name) => nodes.get(name) !== undefined),
  });

  let stopped: Promise<void> | undefined;
  creating.defer(async () => {
    running.abort(new Error('the server is shutting down'));
    await stopped;
  });
  nodes.start();
  pods.start();
  const created = creating.move();
  return {
    ...{ nodes, pods, sink, manager, telemetry, scrapes, trends, guard },
    start: () => {
      stopped = nodes.synced(running.signal).then(
        () => manager.run(running.signal),
        () => {}, // stopped before the nodes were known
      );
    },
    [Symbol.asyncDispose]: () => created.disposeAsync(),
  };
}
