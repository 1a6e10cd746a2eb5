import type { MetricsBatch } from '#lib/resource-metrics/metrics-batch.ts';
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
import { NeverAsked, ScrapeError } from './scrape-error.ts';
import { type ScrapeBounds, ScrapesUnderWay } from './scrapes-in-flight.ts';
import type { SnapshotPublisher } from './snapshot-publisher.ts';

/** One attempt to scrape one node. */
export interface ScrapeOutcome {
  readonly nodeName: string;
  /** When it began, by our wall clock. */
  readonly startedAtMs: number;
  readonly durationMs: number;
  /** `undefined` when it succeeded; caused by {@link NeverAsked} where an earlier attempt has waited for this process for more than a cycle. */
  readonly error: ScrapeError | undefined;
  /** What could not be read of the response, in words. */
  readonly ignored: readonly string[];
  /** `host:port`; absent for a node without an address. */
  readonly address?: string | undefined;
  /** The path that the kubelet was asked for last; absent when it was not asked at all. */
  readonly endpoint?: string | undefined;
}

/** What a scraper needs from outside. */
interface ScraperOptions {
  readonly clock: Clock;
  /** Ends every scrape, and whatever waits. */
  readonly stopped: AbortSignal;
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
interface ScrapeCycle {
  readonly nodes: Iterable<LiveNode>;
  /** Ends the cycle: nodes that have not responded by then have failed, but for those that had to wait for us. */
  readonly signal: AbortSignal;
  /** When the signal is going to, on our monotonic clock. */
  readonly endsAtMs: number;
}

/** When a node's scrape is to begin, on our monotonic clock. */
interface ScrapeStart {
  readonly node: LiveNode;
  readonly target: ScrapeTarget;
  readonly dueMs: number;
}

const JITTER_PER_NODE_MS = 8;

/** How the starts of a cycle are spread, and how long after the last the first responses are published without the others. */
const PACE = { mostJitterMs: 4000, patienceMs: 1000 };

/** Most pods are not served before two cycles are over: in these, haste is worth more than an even load. */
const STARTING_PACE = { mostJitterMs: 1000, patienceMs: 500 };
const STARTING_CYCLES = 2;

/** A node whose second scrape would begin later than this before the end of a cycle is left to the next one. */
const LEAST_SECOND_SCRAPE_MS = 5000;

/** Scrapes every node once a cycle, concurrently and after a random delay; one that fails costs only itself. */
export class Scraper {
  readonly #options: ScraperOptions;
  /** By node, when in a cycle it is scraped: always at the same point, so that no two scrapes come too near each other. */
  #spread: ReadonlyMap<string, number> = new Map();
  readonly #secondScrapes: SecondScrapes;
  readonly #underWay: ScrapesUnderWay;
  /** Of the latest cycle. */
  #publisher: SnapshotPublisher | undefined;
  #cycles = 0;

  constructor(options: ScraperOptions) {
    this.#options = options;
    this.#secondScrapes = new SecondScrapes(options.secondScrapeAfterMs);
    this.#underWay = new ScrapesUnderWay(options);
  }

  /** Resolves when every node has responded or failed, or goes on without its cycle because it had to wait for us. */
  async scrape({ nodes, signal, endsAtMs }: ScrapeCycle): Promise<void> {
    const all = [...nodes];
    const { mostJitterMs, patienceMs } = this.#cycles++ < STARTING_CYCLES ? STARTING_PACE : PACE;
    const jitterMs = Math.min(JITTER_PER_NODE_MS * all.length, mostJitterMs);
    const { clock, client, random } = this.#options;
    using publisher = this.#options.publisher(jitterMs + patienceMs);
    this.#publisher = publisher;
    const targets = new Set<string>();
    const spread = new Map<string, number>();
    const ends: Promise<void>[] = [];
    const starts: ScrapeStart[] = [];
    const startedAtMs = clock.monotonicMs();
    for (const node of all) {
      const target = this.#options.targetOf(node);
      if ('reason' in target) {
        this.#reportUnreachable(target);
        continue;
      }
      targets.add(formatAddress(target));
      const fraction = this.#spread.get(node.name) ?? random();
      spread.set(node.name, fraction);
      const underWay = this.#underWay.passOver(node.name);
      if (underWay) {
        if (underWay.isWaiting && underWay.passes > 1) this.#reportNeverAsked(target);
        ends.push(raceAbort(underWay.ended, signal).catch(() => {})); // it goes on into the next cycle, too
        continue;
      }
      const secondDueMs = this.#secondScrapes.dueMs(node.name);
      if (secondDueMs > endsAtMs - LEAST_SECOND_SCRAPE_MS) continue;
      starts.push({ node, target, dueMs: Math.max(startedAtMs + fraction * jitterMs, secondDueMs) });
    }
    this.#spread = spread;
    this.#secondScrapes.retain((name) => spread.has(name));
    await this.#startWhenDue(starts, signal, ends);
    await Promise.all(ends);
    publisher.flush();
    await client.retain(targets);
  }

  /** One wait after the other: what waited for each of thousands would be moved to where the collector seldom looks. */
  async #startWhenDue(starts: ScrapeStart[], signal: AbortSignal, ends: Promise<void>[]): Promise<void> {
    const { clock } = this.#options;
    starts.sort((one, other) => one.dueMs - other.dueMs);
    for (const { node, target, dueMs } of starts) {
      const waitMs = dueMs - clock.monotonicMs();
      if (waitMs > 0) await waitUnlessAborted(clock, waitMs, signal);
      const end = this.#underWay.run(node.name, signal, (bounds) => this.#scrapeNode(node, target, bounds));
      end.catch(() => {}); // the cycle fails with it once all are started; until then nobody waits for it
      ends.push(end);
    }
  }

  #reportUnreachable({ nodeName, reason }: NoScrapeTarget): void {
    this.#reportUnasked(new ScrapeError(nodeName, new Error(reason)));
  }

  #reportNeverAsked(target: ScrapeTarget): void {
    const address = formatAddress(target);
    this.#reportUnasked(new ScrapeError(target.nodeName, new NeverAsked(), { address }));
  }

  #reportUnasked(error: ScrapeError): void {
    const { nodeName } = error;
    const startedAtMs = this.#options.clock.nowMs();
    this.#options.onScraped({ nodeName, startedAtMs, durationMs: 0, error, ignored: [] });
  }

  #deliver(batch: MetricsBatch): void {
    this.#options.receive(batch);
    this.#secondScrapes.noteResponse(batch.nodeName, batch.receivedAtMs);
    this.#publisher?.markDirty();
  }

  /**
   * Asks one node and delivers its response as soon as that is read: it passes through nothing that has waited for long. Such
   * calls are held where the collector seldom looks, and with them, though they are over, all that passed through.
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
      await endpoints.ask(node, async ({ path, decode }) => {
        endpoint = path;
        const requestedAtMs = clock.monotonicMs();
        const read = (body: Buffer) => {
          const received = { receivedAtMs: clock.monotonicMs(), receivedAtWallMs: clock.nowMs() };
          const batch = decode(body, { nodeName, requestedAtMs, ...received });
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

/** Waits for a while, or until the signal aborts: what comes next looks at that. */
async function waitUnlessAborted(clock: Clock, durationMs: number, signal: AbortSignal): Promise<void> {
  await clock.sleep(durationMs, { signal }).catch(() => {});
}

/** When nodes that have responded once are asked again, whenever cycles begin: a rate needs two samples that lie apart. */
export class SecondScrapes {
  readonly #afterMs: number;
  /** By node, when its first response had come in; -Infinity once it has responded twice. */
  readonly #firstResponseMs = new Map<string, number>();

  /** @param afterMs how long behind a node's first response its second scrape begins */
  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  noteResponse(nodeName: string, receivedAtMs: number): void {
    const isFirst = !this.#firstResponseMs.has(nodeName);
    this.#firstResponseMs.set(nodeName, isFirst ? receivedAtMs : Number.NEGATIVE_INFINITY);
  }

  /** Before when a node is not to be asked; -Infinity for one that may be at any time. */
  dueMs(nodeName: string): number {
    return (this.#firstResponseMs.get(nodeName) ?? Number.NEGATIVE_INFINITY) + this.#afterMs;
  }

  /** Drops what is known of nodes that are gone. */
  retain(isLive: (nodeName: string) => boolean): void {
    for (const nodeName of this.#firstResponseMs.keys())
      if (!isLive(nodeName)) this.#firstResponseMs.delete(nodeName);
  }
}
