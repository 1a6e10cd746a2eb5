import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { SlicedRegistry } from '#lib/telemetry/sliced-registry.ts';
import type { Clock } from '#lib/time/clock.ts';
import { NodeTrends } from './debug/describe-node.ts';
import { Manager, SECOND_CYCLE_AFTER_MS } from './manager.ts';
import { chooseScrapeTarget } from './nodes/node-address.ts';
import { NodeCache } from './nodes/node-cache.ts';
import { PodCache } from './nodes/pod-cache.ts';
import type { MetricsServerOptions } from './options.ts';
import { PipelineObservers, StageGuard } from './pipeline-observers.ts';
import { PipelineMetrics } from './pipeline-series.ts';
import { EndpointChoice, kubeletEndpoints } from './scrape/endpoint-choice.ts';
import { createKubeletClient } from './scrape/kubelet/kubelet-client.ts';
import { ScrapeFailureLog } from './scrape/scrape-failure-log.ts';
import { ScrapeRecords } from './scrape/scrape-records.ts';
import { Scraper } from './scrape/scraper.ts';
import { SnapshotPublisher } from './scrape/snapshot-publisher.ts';
import { MetricsSink } from './sink/metrics-sink.ts';

export interface PipelineEnvironment {
  readonly access: ClusterAccess;
  readonly client: ApiClient;
  readonly registry: SlicedRegistry;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called for each new snapshot; must call `publish`. By default publishes at once. */
  readonly replaceSnapshot?: (publish: () => void) => void;
  /** Called after each cycle with the number of nodes. */
  readonly onCycle?: ((nodes: number) => void) | undefined;
}

/** Keeps the snapshot current; disposal stops everything. */
interface Pipeline extends AsyncDisposable {
  readonly nodes: NodeCache;
  readonly pods: PodCache;
  readonly sink: MetricsSink;
  readonly manager: Manager;
  readonly telemetry: PipelineMetrics;
  readonly scrapes: ScrapeRecords;
  readonly trends: NodeTrends;
  readonly guard: StageGuard;
  /** Starts scraping once the nodes have been listed; returns at once. */
  start(): void;
}

/**
 * Connects the stages: nodes → scrape → batch → sink, driven by the manager. Starts the informers of nodes and pods.
 *
 * @throws if a file of a flag cannot be read
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
  const telemetry = new PipelineMetrics({
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
      onScrape: ({ nodeName, error }) => error && sink.recordFailure(nodeName),
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
    chooseTarget: (node) => chooseScrapeTarget(node, options.kubelet),
    receive: (batch) => guard.contain('sink', () => sink.receive(batch)),
    publisher: (maxWaitMs) => new SnapshotPublisher({ clock, maxWaitMs, publish }),
    onScraped: (outcome) => {
      if (!running.signal.aborted) observers.scraped(outcome); // scrapes aborted by shutdown are not failures
    },
  });
  const manager = new Manager({
    clock,
    logger,
    resolutionMs,
    collect: async (signal, endsAtMs) => {
      guard.contain('sink', () => sink.beginCycle());
      const listed = guard.contain('nodes', () => [...nodes.values()]);
      if (listed) await scraper.scrape({ nodes: listed, signal, endsAtMs });
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
    nodes,
    pods,
    sink,
    manager,
    telemetry,
    scrapes,
    trends,
    guard,
    start: () => {
      stopped = nodes.synced(running.signal).then(
        () => manager.run(running.signal),
        () => {}, // stopped before the nodes were listed
      );
    },
    [Symbol.asyncDispose]: () => created.disposeAsync(),
  };
}
