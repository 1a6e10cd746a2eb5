import type { MetricsBatch } from '#lib/resource-metrics/batch/metrics-batch.ts';
import type { LiveNode } from '#lib/resource-metrics/nodes/live-nodes.ts';
import {
  formatAddress,
  type NoScrapeTarget,
  type ScrapeTarget,
} from '#lib/resource-metrics/nodes/node-address.ts';
import type { KubeletClient } from '#lib/resource-metrics/scrape/kubelet/kubelet-client.ts';
import { NeverAsked } from '#lib/resource-metrics/scrape/kubelet/never-asked.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { EndpointChoice } from './endpoint-choice.ts';
import { ScrapeError } from './scrape-error.ts';
import { SecondScrapes } from './second-scrapes.ts';
import type { SnapshotPublisher } from './snapshot-publisher.ts';

/** One attempt to scrape one node. */
export interface ScrapeOutcome {
  readonly nodeName: string;
  /** When it began, by our wall clock. */
  readonly startedAtMs: number;
  readonly durationMs: number;
  /** `undefined` when it succeeded; caused by {@link NeverAsked} where the kubelet was not asked in two cycles in succession. */
  readonly error: ScrapeError | undefined;
  /** What could not be read of the response, in words. */
  readonly ignored: readonly string[];
  /** `host:port`; absent for a node without an address. */
  readonly address?: string | undefined;
  /** The path that the kubelet was asked for last; absent when it was not asked at all. */
  readonly endpoint?: string | undefined;
}

/** What a scraper needs from outside. */
export interface ScraperOptions {
  readonly clock: Clock;
  readonly client: Pick<KubeletClient, 'get' | 'retain'>;
  readonly endpoints: EndpointChoice;
  readonly targetOf: (node: LiveNode) => ScrapeTarget | NoScrapeTarget;
  /** A number in [0, 1), asked once a node: spreads the starts of a cycle. */
  readonly random: () => number;
  /** Takes in a batch, at once: until then it takes many times the memory. */
  readonly receive: (batch: MetricsBatch) => void;
  /** Opens what publishes the batches of one cycle. */
  readonly publisher: (patienceMs: number) => SnapshotPublisher;
  readonly onScraped: (outcome: ScrapeOutcome) => void;
  /** How long behind a node's first response its second scrape begins at the earliest. */
  readonly secondScrapeAfterMs: number;
}

/** One cycle over all nodes. */
export interface ScrapeCycle {
  readonly nodes: Iterable<LiveNode>;
  /** Ends the cycle: nodes that have not responded by then have failed. */
  readonly signal: AbortSignal;
  /** When the signal is going to, on our monotonic clock. */
  readonly endsAtMs: number;
}

const JITTER_PER_NODE_MS = 8;
const MOST_JITTER_MS = 4000;
/** Most pods are not served before two cycles are over: in these, haste is worth more than an even load. */
const STARTING_CYCLES = 2;
const MOST_STARTING_JITTER_MS = 1500;
/** How long after the last start the first responses are published without those that are still to come. */
const PATIENCE_MS = 1000;
/** A node whose second scrape would begin later than this before the end of a cycle is left to the next one. */
const LEAST_SECOND_SCRAPE_MS = 5000;

/** Scrapes every node once a cycle, concurrently and after a random delay; one that fails costs only itself. */
export class Scraper {
  readonly #options: ScraperOptions;
  /** By node, when in a cycle it is scraped: always at the same point, so that no two scrapes come too near each other. */
  #spread: ReadonlyMap<string, number> = new Map();
  readonly #secondScrapes: SecondScrapes;
  /** Nodes that were never asked in the cycle before, and not in this one yet. */
  readonly #unasked = new Set<string>();
  #cycles = 0;

  constructor(options: ScraperOptions) {
    this.#options = options;
    this.#secondScrapes = new SecondScrapes(options.secondScrapeAfterMs);
  }

  /** Resolves when every node has responded or failed. */
  async scrape({ nodes, signal, endsAtMs }: ScrapeCycle): Promise<void> {
    const all = [...nodes];
    const mostJitterMs = this.#cycles++ < STARTING_CYCLES ? MOST_STARTING_JITTER_MS : MOST_JITTER_MS;
    const jitterMs = Math.min(JITTER_PER_NODE_MS * all.length, mostJitterMs);
    const { clock, client, random, receive } = this.#options;
    using publisher = this.#options.publisher(jitterMs + PATIENCE_MS);
    const targets = new Set<string>();
    const spread = new Map<string, number>();
    const deliver = (batch: MetricsBatch) => {
      receive(batch);
      this.#secondScrapes.noteResponse(batch.nodeName, batch.receivedAtMs);
      publisher.markDirty();
    };
    const scrapeNode = async (node: LiveNode) => {
      const target = this.#options.targetOf(node);
      if ('reason' in target) return this.#reportUnreachable(target);
      targets.add(formatAddress(target));
      const fraction = this.#spread.get(node.name) ?? random();
      spread.set(node.name, fraction);
      const secondDueMs = this.#secondScrapes.dueMs(node.name);
      if (secondDueMs > endsAtMs - LEAST_SECOND_SCRAPE_MS) return;
      const waitMs = Math.max(fraction * jitterMs, secondDueMs - clock.monotonicMs());
      await waitUnlessAborted(clock, waitMs, signal);
      await this.#scrapeNode(node, target, { signal, deliver });
    };
    const scraped = Promise.all(all.map(scrapeNode));
    this.#spread = spread;
    this.#secondScrapes.retain((name) => spread.has(name));
    for (const name of this.#unasked) if (!spread.has(name)) this.#unasked.delete(name);
    await scraped;
    publisher.flush();
    await client.retain(targets);
  }

  #reportUnreachable({ nodeName, reason }: NoScrapeTarget): void {
    const error = new ScrapeError(nodeName, new Error(reason));
    this.#options.onScraped({
      nodeName,
      startedAtMs: this.#options.clock.nowMs(),
      durationMs: 0,
      error,
      ignored: [],
    });
  }

  /**
   * Asks one node and delivers its response as soon as that is read: it passes through nothing that has waited for long. Such
   * calls are held where the collector seldom looks, and with them, though they are over, all that passed through.
   */
  async #scrapeNode(
    node: LiveNode,
    target: ScrapeTarget,
    { signal, deliver }: { readonly signal: AbortSignal; readonly deliver: (batch: MetricsBatch) => void },
  ): Promise<void> {
    const { clock, client, endpoints, onScraped } = this.#options;
    const { nodeName } = target;
    const address = formatAddress(target);
    let endpoint: string | undefined;
    const begin = { startedAtMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
    const wasUnasked = this.#unasked.delete(nodeName);
    const report = (outcome: Pick<ScrapeOutcome, 'error' | 'ignored'>) => {
      const durationMs = clock.monotonicMs() - begin.monotonicMs;
      onScraped({ nodeName, startedAtMs: begin.startedAtMs, durationMs, address, endpoint, ...outcome });
    };
    let ignored: readonly string[] = [];
    try {
      signal.throwIfAborted();
      await endpoints.ask(node, async ({ path, decode }) => {
        endpoint = path;
        const requestedAtMs = clock.monotonicMs();
        const read = (body: Buffer) => {
          const received = { receivedAtMs: clock.monotonicMs(), receivedAtWallMs: clock.nowMs() };
          const batch = decode(body, { nodeName, requestedAtMs, ...received });
          ignored = batch.ignored;
          deliver(batch);
        };
        await client.get(target, path, { signal, read });
      });
    } catch (cause) {
      if (cause instanceof NeverAsked) this.#unasked.add(nodeName);
      if (cause instanceof NeverAsked && !wasUnasked) return; // the next cycle goes on with it
      report({ error: new ScrapeError(nodeName, cause, { address }), ignored: [] });
      return;
    }
    report({ error: undefined, ignored });
  }
}

/** Waits for a while, or until the signal aborts: what comes next looks at that. */
async function waitUnlessAborted(clock: Clock, durationMs: number, signal: AbortSignal): Promise<void> {
  await clock.sleep(durationMs, { signal }).catch(() => {});
}
