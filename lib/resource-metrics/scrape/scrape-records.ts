import { NeverAsked } from './scrape-error.ts';
import type { ScrapeOutcome } from './scraper.ts';

/** What is known of one node's latest scrapes. All times are of our wall clock. */
export interface ScrapeRecord {
  /** When the latest scrape began. */
  readonly startedAtMs: number;
  readonly durationMs: number;
  /** `host:port`; `undefined` for a node without an address. */
  readonly address: string | undefined;
  /** The path that the kubelet was asked for last. */
  readonly endpoint: string | undefined;
  /** When the latest scrape that succeeded began. */
  readonly succeededAtMs: number | undefined;
  /** What could not be read of the latest response, in words. */
  readonly ignored: readonly string[];
  /** `undefined` while scrapes succeed. */
  readonly failure: ScrapeFailure | undefined;
}

/** Why scrapes of a node fail now. */
export interface ScrapeFailure {
  readonly message: string;
  /** When the first scrape began of those that have failed since the last success, whatever their causes. */
  readonly sinceMs: number;
  /** How many those are. */
  readonly count: number;
  /** Whether the kubelet was asked at all, and it was not our own load that left it out. */
  readonly wasAsked: boolean;
}

/** Remembers by node what became of its latest scrapes. */
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
        wasAsked: !(error.cause instanceof NeverAsked),
      },
    });
  }

  /** `undefined` for a node that was not scraped yet. */
  get(nodeName: string): ScrapeRecord | undefined {
    return this.#records.get(nodeName);
  }

  /** Drops what is known of nodes that are gone. */
  retain(isLive: (nodeName: string) => boolean): void {
    for (const nodeName of this.#records.keys()) if (!isLive(nodeName)) this.#records.delete(nodeName);
  }
}
