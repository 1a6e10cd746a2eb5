import { Manager } from '#lib/resource-metrics/manager.ts';
import { parseOptions } from '#lib/resource-metrics/options.ts';
import { EndpointChoice, type EndpointPolicy } from '#lib/resource-metrics/scrape/endpoint-choice.ts';
import { type ScrapeOutcome, Scraper } from '#lib/resource-metrics/scrape/scraper.ts';
import { SnapshotPublisher } from '#lib/resource-metrics/scrape/snapshot-publisher.ts';
import { MetricsSink } from '#lib/resource-metrics/sink/metrics-sink.ts';
import type { MeasuredUsage, NodeUsage, PodUsage } from '#lib/resource-metrics/sink/snapshot.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { NAMESPACE, type SocketlessCluster } from './socketless-cluster.ts';

const SECOND_CYCLE_AFTER_MS = 12_000;

/** Settings of the server under test. */
export interface PipelineOptions {
  readonly resolutionMs: number;
  readonly requestTimeoutMs: number;
  readonly stalenessMs: number;
  readonly random: () => number;
  readonly endpoint?: EndpointPolicy;
  readonly onScraped?: (outcome: ScrapeOutcome) => void;
}

/** The served usage of a pod, with the stored spans of its containers. */
export type ServedPod = Omit<PodUsage, 'containers'> & { readonly containers: readonly MeasuredUsage[] };

/** Settings of a server without flags. */
export const DEFAULTS: PipelineOptions = defaultOptions();

/** The server's own scraper, decoders, manager and sink in a cluster without sockets. */
export class Pipeline implements AsyncDisposable {
  readonly sink: MetricsSink;
  readonly #cluster: SocketlessCluster;
  readonly #running = new AbortController();
  readonly #stopped: Promise<void>;

  constructor(cluster: SocketlessCluster, options: PipelineOptions = DEFAULTS) {
    const { clock, liveNodes, livePods } = cluster;
    const { resolutionMs, stalenessMs, requestTimeoutMs, random, onScraped } = options;
    const livePodUid = (key: string) => livePods.get(key.slice(key.indexOf('/') + 1))?.uid;
    this.#cluster = cluster;
    this.sink = new MetricsSink({ clock, resolutionMs, stalenessMs, livePodUid });
    const endpoints = new EndpointChoice(options.endpoint ?? 'auto', clock);
    const scraper = new Scraper({
      clock,
      stopped: new AbortController().signal,
      secondScrapeAfterMs: SECOND_CYCLE_AFTER_MS,
      random,
      endpoints,
      chooseTarget: ({ name }) => ({ nodeName: name, host: name, port: 10250 }),
      client: {
        get: async ({ nodeName }, path, { signal, read }) => {
          const node = cluster.machines.get(nodeName);
          if (!node) throw new Error('no route to host');
          const lateByMs = node.lateByMs();
          if (lateByMs > 0) await clock.sleep(lateByMs, { signal });
          const requestedAtMs = clock.monotonicMs();
          const text = await node.response(path, { signal, timeoutMs: requestTimeoutMs });
          const [respondedAtMs, receivedAtMs] = [clock.monotonicMs(), clock.monotonicMs()];
          return read(Buffer.from(text), { requestedAtMs, respondedAtMs, receivedAtMs });
        },
        retain: async () => {},
      },
      receive: (batch) => this.sink.receive(batch),
      publisher: (maxWaitMs) =>
        new SnapshotPublisher({ clock, maxWaitMs, publish: () => this.sink.publish() }),
      onScraped: (outcome) => {
        if (outcome.error) this.sink.recordFailure(outcome.nodeName);
        onScraped?.(outcome);
      },
    });
    const manager = new Manager({
      clock,
      logger: new RecordingLogger(),
      resolutionMs,
      collect: async (signal, endsAtMs) => {
        this.sink.beginCycle();
        await scraper.scrape({
          endsAtMs,
          nodes: liveNodes.values(),
          signal,
        });
      },
      onCycle: () => {
        const isLive = (name: string) => liveNodes.has(name);
        for (const owner of [this.sink, endpoints]) owner.retain(isLive);
      },
    });
    this.#stopped = manager.run(this.#running.signal);
  }

  /** The served usage of a node. */
  node(name: string): NodeUsage | undefined {
    return this.#cluster.liveNodes.has(name) ? this.sink.snapshot.nodes.get(name) : undefined;
  }

  /** The served usage of a pod, if it is of the live pod of that name. */
  pod(name: string): ServedPod | undefined {
    const live = this.#cluster.livePods.get(name);
    const usage = this.sink.snapshot.pods.get(NAMESPACE)?.get(name);
    if (!live || !usage || (usage.uid !== undefined && usage.uid !== live.uid)) return undefined;
    // The sink's containers have their own spans, though only the earliest is served.
    return usage as ServedPod;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#running.abort(new Error('the run is over'));
    await this.#stopped;
  }
}

function defaultOptions(): PipelineOptions {
  const commandLine = parseOptions([]);
  if (commandLine.kind !== 'run') throw new Error('A server that is told nothing is to run');
  const { metricResolutionMs, metricStalenessMs, kubelet } = commandLine.options;
  return {
    resolutionMs: metricResolutionMs,
    stalenessMs: metricStalenessMs,
    requestTimeoutMs: kubelet.requestTimeoutMs,
    random: () => 0.5,
  };
}
