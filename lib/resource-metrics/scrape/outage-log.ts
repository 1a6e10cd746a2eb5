import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { ScrapeOutcome } from './scraper.ts';

const REMINDER_MS = 3_600_000;

interface Outage {
  readonly sinceMs: number;
  readonly loggedAtMs: number;
  readonly kind: string;
}

/** Logs when a node's scrapes begin to fail, when the cause changes, hourly while they do, and when they succeed again. */
export class OutageLog {
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #outages = new Map<string, Outage>();
  /** Nodes whose last answer could not be read completely. */
  readonly #partial = new Set<string>();

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  record({ nodeName, error, ignored }: ScrapeOutcome): void {
    if (!error) this.#recordIgnored(nodeName, ignored);
    const outage = this.#outages.get(nodeName);
    const nowMs = this.#clock.monotonicMs();
    if (!error) {
      if (outage) this.#recovered(nodeName, nowMs - outage.sinceMs);
      return;
    }
    const { message, address, kind } = error;
    if (outage && outage.kind === kind && nowMs - outage.loggedAtMs < REMINDER_MS) return;
    const sinceMs = outage?.sinceMs ?? nowMs;
    this.#outages.set(nodeName, { sinceMs, loggedAtMs: nowMs, kind });
    const failingFor = outage
      ? { failingFor: formatDuration(Math.round((nowMs - sinceMs) / 1000) * 1000) }
      : {};
    this.#logger.error(message, undefined, { node: nodeName, address, ...failingFor });
  }

  /** Drops what is known of nodes that are gone. */
  retain(isLive: (nodeName: string) => boolean): void {
    for (const nodeName of this.#outages.keys()) if (!isLive(nodeName)) this.#outages.delete(nodeName);
    for (const nodeName of this.#partial) if (!isLive(nodeName)) this.#partial.delete(nodeName);
  }

  #recordIgnored(nodeName: string, [first, ...others]: readonly string[]): void {
    if (first === undefined) {
      this.#partial.delete(nodeName);
    } else if (!this.#partial.has(nodeName)) {
      this.#partial.add(nodeName);
      this.#logger.warning("Left out what cannot be read of a kubelet's answer", {
        node: nodeName,
        what: first,
        others: others.length,
      });
    }
  }

  #recovered(nodeName: string, durationMs: number): void {
    this.#outages.delete(nodeName);
    const failedFor = formatDuration(Math.round(durationMs / 1000) * 1000);
    this.#logger.info('Node is scraped again', { node: nodeName, failedFor });
  }
}
