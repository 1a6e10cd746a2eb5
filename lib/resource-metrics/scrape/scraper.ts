import type { MetricsBatch, ResponseTimes } from '#lib/resource-metrics/metrics-batch.ts';
import {
  formatAddress,
  type NoScrapeTarget,
  type ScrapeTarget,
} from '#lib/resource-metrics/nodes/node-address.ts';
import type { LiveNode } from '#lib/resource-metrics/nodes/node-cache.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { EndpointChoice } from './endpoint-choice.ts';
import type { KubeletClient } from './kubelet/kubelet-client.ts';
import { NotScrapedError, ScrapeError } from './scrape-error.ts';
import { type ScrapeBounds, ScrapesInFlight } from './scrapes-in-flight.ts';
import type { SnapshotPublisher } from './snapshot-publisher.ts';

/** The result of one scrape of one node. */
export interface ScrapeOutcome {
  readonly nodeName: string;
  /** Wall clock time. */
  readonly startedAtMs: number;
  readonly durationMs: number;
  /**
   * `undefined` on success. The cause is {@link NotScrapedError} if an earlier scrape waited for more than a cycle.
   */
  readonly error: ScrapeError | undefined;
  /** Descriptions of unreadable parts of the response. */
  readonly ignored: readonly string[];
  /** `host:port`; absent for a node without an address. */
  readonly address?: string | undefined;
  /** The last path requested; absent if there was no request. */
  readonly endpoint?: string | undefined;
}

interface ScraperOptions {
  readonly clock: Clock;
  /** Aborts all scrapes and waits. */
  readonly stopped: AbortSignal;
  readonly client: Pick<KubeletClient, 'get' | 'retain'>;
  readonly endpoints: EndpointChoice;
  readonly chooseTarget: (node: LiveNode) => ScrapeTarget | NoScrapeTarget;
  /** Returns a number in [0, 1); spreads the scrapes of nodes in a cycle. */
  readonly random: () => number;
  /** Receives a batch; must process it at once, since it takes many times the memory of the result. */
  readonly receive: (batch: MetricsBatch) => void;
  /** Creates the publisher of one cycle. */
  readonly publisher: (maxWaitMs: number) => SnapshotPublisher;
  readonly onScraped: (outcome: ScrapeOutcome) => void;
  /** Minimum time from a node's first response to its second scrape. */
  readonly secondScrapeAfterMs: number;
}

interface ScrapeCycle {
  readonly nodes: Iterable<LiveNode>;
  /** Ends the cycle: pending scrapes fail, except those delayed by this process. */
  readonly signal: AbortSignal;
  /** When the signal aborts, on the monotonic clock. */
  readonly endsAtMs: number;
}

/** When the scrape of a node starts, on the monotonic clock. */
interface ScrapeStart {
  readonly node: LiveNode;
  readonly target: ScrapeTarget;
  readonly dueMs: number;
}

const JITTER_PER_NODE_MS = 8;

/** Spread of the scrapes in a cycle, and how long after the last start the first responses are published. */
const PACE = { maxJitterMs: 4000, maxWaitMs: 1000 };

/** Most pods are first served after two cycles, so these favor speed over even load. */
const STARTING_PACE = { maxJitterMs: 1000, maxWaitMs: 500 };

/** The spread grows in steps, because each step makes the windows of the nodes that are scraped last longer. */
const FIRST_PACES = [STARTING_PACE, STARTING_PACE, { ...PACE, maxJitterMs: 2500 }];

/** Share of a cycle of less than 10 s in which its scrapes start, so that each has time to respond. */
const MAX_JITTER_SHARE = 0.4;

/**
 * A second scrape that would have less than this until the end of the cycle, or less than half of a cycle of less than
 * 10 s, is left to the next cycle.
 */
const MIN_SECOND_SCRAPE_MS = 5000;

/** Scrapes each node once per cycle, concurrently and with jitter; a failure affects only its node. */
export class Scraper {
  readonly #options: ScraperOptions;
  /** The point in a cycle when a node is scraped; constant, so that its scrapes are evenly spaced. */
  #spread: ReadonlyMap<string, number> = new Map();
  readonly #secondScrapes: SecondScrapes;
  readonly #inFlight: ScrapesInFlight;
  /** Of the current cycle. */
  #publisher: SnapshotPublisher | undefined;
  #cycles = 0;

  constructor(options: ScraperOptions) {
    this.#options = options;
    this.#secondScrapes = new SecondScrapes(options.secondScrapeAfterMs);
    this.#inFlight = new ScrapesInFlight(options);
  }

  /** Resolves when each scrape has ended, or continues beyond the cycle because this process delayed it. */
  async scrape({ nodes, signal, endsAtMs }: ScrapeCycle): Promise<void> {
    const all = [...nodes];
    const { maxJitterMs, maxWaitMs } = FIRST_PACES[this.#cycles++] ?? PACE;
    const { clock, client, random } = this.#options;
    const startedAtMs = clock.monotonicMs();
    const cycleMs = endsAtMs - startedAtMs;
    const jitterMs = Math.min(JITTER_PER_NODE_MS * all.length, maxJitterMs, cycleMs * MAX_JITTER_SHARE);
    const lastSecondScrapeMs = endsAtMs - Math.min(MIN_SECOND_SCRAPE_MS, cycleMs / 2);
    using publisher = this.#options.publisher(jitterMs + maxWaitMs);
    this.#publisher = publisher;
    const targets = new Set<string>();
    const spread = new Map<string, number>();
    const ends: Promise<void>[] = [];
    const starts: ScrapeStart[] = [];
    for (const node of all) {
      const target = this.#options.chooseTarget(node);
      if ('reason' in target) {
        this.#reportUnreachable(target);
        continue;
      }
      targets.add(formatAddress(target));
      const fraction = this.#spread.get(node.name) ?? random();
      spread.set(node.name, fraction);
      const inFlight = this.#inFlight.skip(node.name);
      if (inFlight) {
        if (inFlight.isWaiting && inFlight.skippedCycles > 1) this.#reportNotScraped(target);
        ends.push(raceAbort(inFlight.ended, signal).catch(() => {})); // continues into the next cycle
        continue;
      }
      const secondDueMs = this.#secondScrapes.dueMs(node.name);
      if (secondDueMs > lastSecondScrapeMs) continue;
      starts.push({ node, target, dueMs: Math.max(startedAtMs + fraction * jitterMs, secondDueMs) });
    }
    this.#spread = spread;
    this.#secondScrapes.retain((name) => spread.has(name));
    await this.#startWhenDue(starts, signal, ends);
    await Promise.all(ends);
    publisher.flush();
    await client.retain(targets);
  }

  /** Waits sequentially: thousands of concurrent waits would be promoted to the old generation. */
  async #startWhenDue(starts: ScrapeStart[], signal: AbortSignal, ends: Promise<void>[]): Promise<void> {
    const { clock } = this.#options;
    starts.sort((one, other) => one.dueMs - other.dueMs);
    for (const { node, target, dueMs } of starts) {
      const waitMs = dueMs - clock.monotonicMs();
      if (waitMs > 0) await waitUnlessAborted(clock, waitMs, signal);
      const end = this.#inFlight.run(node.name, signal, (bounds) => this.#scrapeNode(node, target, bounds));
      end.catch(() => {}); // rejects the cycle once all scrapes have started; not awaited before
      ends.push(end);
    }
  }

  #reportUnreachable({ nodeName, reason }: NoScrapeTarget): void {
    this.#reportWithoutRequest(new ScrapeError(nodeName, new Error(reason)));
  }

  #reportNotScraped(target: ScrapeTarget): void {
    const address = formatAddress(target);
    this.#reportWithoutRequest(new ScrapeError(target.nodeName, new NotScrapedError(), { address }));
  }

  #reportWithoutRequest(error: ScrapeError): void {
    const { nodeName } = error;
    const startedAtMs = this.#options.clock.nowMs();
    this.#options.onScraped({ nodeName, startedAtMs, durationMs: 0, error, ignored: [] });
  }

  #deliver(batch: MetricsBatch): void {
    this.#options.receive(batch);
    this.#secondScrapes.recordResponse(batch.nodeName, batch.receivedAtMs);
    this.#publisher?.markDirty();
  }

  /**
   * Scrapes a node and delivers its response as soon as it is read. The response must not pass through long-lived
   * promises: these are in the old generation, where they would retain it beyond their end.
   */
  async #scrapeNode(node: LiveNode, target: ScrapeTarget, { signal, pause }: ScrapeBounds): Promise<void> {
    const { clock, client, endpoints, onScraped } = this.#options;
    const { nodeName } = target;
    const address = formatAddress(target);
    let endpoint: string | undefined;
    const begin = { startedAtMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
    const report = (outcome: Pick<ScrapeOutcome, 'error' | 'ignored'>) => {
      const durationMs = clock.monotonicMs() - begin.monotonicMs;
      onScraped({ nodeName, startedAtMs: begin.startedAtMs, durationMs, address, endpoint, ...outcome });
    };
    let ignored: readonly string[] = [];
    try {
      signal.throwIfAborted();
      await endpoints.request(node, async ({ path, decode }) => {
        endpoint = path;
        const read = (body: Buffer, times: ResponseTimes) => {
          const batch = decode(body, { nodeName, ...times, receivedAtWallMs: clock.nowMs() });
          ignored = batch.ignored;
          this.#deliver(batch);
        };
        await client.get(target, path, { signal, read, pause });
      });
    } catch (cause) {
      report({ error: new ScrapeError(nodeName, cause, { address }), ignored: [] });
      return;
    }
    report({ error: undefined, ignored });
  }
}

/** Resolves after a duration or when the signal aborts; callers check the signal. */
async function waitUnlessAborted(clock: Clock, durationMs: number, signal: AbortSignal): Promise<void> {
  await clock.sleep(durationMs, { signal }).catch(() => {});
}

/**
 * Schedules the second scrape of each node independently of cycles, since a rate needs two samples some time apart.
 */
export class SecondScrapes {
  readonly #afterMs: number;
  /** By node, the time of its first response; -Infinity after the second. */
  readonly #firstResponseMs = new Map<string, number>();

  /** @param afterMs minimum time from a node's first response to its second scrape */
  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  recordResponse(nodeName: string, receivedAtMs: number): void {
    const isFirst = !this.#firstResponseMs.has(nodeName);
    this.#firstResponseMs.set(nodeName, isFirst ? receivedAtMs : Number.NEGATIVE_INFINITY);
  }

  /** @returns the earliest time to scrape the node again; -Infinity if there is none */
  dueMs(nodeName: string): number {
    return (this.#firstResponseMs.get(nodeName) ?? Number.NEGATIVE_INFINITY) + this.#afterMs;
  }

  /** Removes nodes that are no longer live. */
  retain(isLive: (nodeName: string) => boolean): void {
    for (const nodeName of this.#firstResponseMs.keys())
      if (!isLive(nodeName)) this.#firstResponseMs.delete(nodeName);
  }
}
