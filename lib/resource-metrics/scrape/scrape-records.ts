import { NotScrapedError } from './scrape-error.ts';
import type { ScrapeOutcome } from './scraper.ts';

/** The last scrapes of one node, in wall clock time. */
export interface ScrapeRecord {
  /** Start of the last scrape. */
  readonly startedAtMs: number;
  readonly durationMs: number;
  /** `host:port`; `undefined` for a node without an address. */
  readonly address: string | undefined;
  /** The last path requested. */
  readonly endpoint: string | undefined;
  /** Start of the last successful scrape. */
  readonly succeededAtMs: number | undefined;
  /** Descriptions of unreadable parts of the last response. */
  readonly ignored: readonly string[];
  /** `undefined` while scrapes succeed. */
  readonly failure: ScrapeFailure | undefined;
}

interface ScrapeFailure {
  readonly message: string;
  /** Start of the first failure since the last success, regardless of causes. */
  readonly sinceMs: number;
  /** Failures since then. */
  readonly count: number;
  /** `false` if the scrape was delayed by this process and did not reach the kubelet. */
  readonly wasScraped: boolean;
}

/** Records the last scrapes of each node. */
export class ScrapeRecords {
  readonly #records = new Map<string, ScrapeRecord>();

  record({ nodeName, error, startedAtMs, durationMs, address, endpoint, ignored }: ScrapeOutcome): void {
    const previous = this.#records.get(nodeName);
    const { sinceMs = startedAtMs, count = 0 } = previous?.failure ?? {};
    this.#records.set(nodeName, {
      startedAtMs,
      durationMs,
      address: address ?? error?.address,
      endpoint,
      succeededAtMs: error ? previous?.succeededAtMs : startedAtMs,
      ignored,
      failure: error && {
        message: error.message,
        sinceMs,
        count: count + 1,
        wasScraped: !(error.cause instanceof NotScrapedError),
      },
    });
  }

  /** `undefined` for a node that has not been scraped. */
  get(nodeName: string): ScrapeRecord | undefined {
    return this.#records.get(nodeName);
  }

  /** Removes nodes that are no longer live. */
  retain(isLive: (nodeName: string) => boolean): void {
    for (const nodeName of this.#records.keys()) if (!isLive(nodeName)) this.#records.delete(nodeName);
  }
}
