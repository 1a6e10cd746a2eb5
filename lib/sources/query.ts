import { createHash } from 'node:crypto';
import type { Sample } from './sample.ts';

/** What is asked of a source, again and again. */
export interface Query {
  /** The same for queries that ask the same system the same with the same credentials; holds no secret. */
  readonly key: string;
  /** What is asked of whom, for people: one line without secrets. */
  readonly description: string;
  /**
   * What namespaces share by turns, and whom series of requests are counted under: a host, a connection, or the name that an
   * administrator gave; holds no secret. Absent where requests do not wait for one another.
   */
  readonly source?: string;
  /** How many requests its source takes at once; 32 unless given. */
  readonly maxConcurrent?: number;
  /** Its requests by HTTP, where somebody counts them. */
  readonly requests?: RequestTally | undefined;
  /** How long a request may take; absent where the default counts. */
  readonly timeoutMs?: number;
  /**
   * @param note takes what people should know of a result that there is nevertheless: a line without secrets
   * @throws an Error that says what could not be asked, of whom, and why; a source without a result is such an error
   */
  run(signal: AbortSignal, note?: (text: string) => void): Promise<readonly Sample[]>;
}

/** What queries have that say nothing, and what they have beyond their request: for a connection, and to be read. */
const USUAL_MS = 15_000;
const MARGIN_MS = 1_000;

/** A query that waits as long as its one request may take, where that is longer than queries usually wait. */
export function extendTimeout(query: Query, requestTimeoutMs: number): Query {
  const timeoutMs = requestTimeoutMs + MARGIN_MS;
  return timeoutMs > USUAL_MS ? { ...query, timeoutMs } : query;
}

/** Tells values apart that must not be shown: a part of a digest of their JSON. */
export function digest(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

const MAX_SHOWN_LENGTH = 200;

/** A query as logs, events and pages show it: on one line, and not longer than fits there. */
export function shorten(text: string): string {
  const line = text.slice(0, MAX_SHOWN_LENGTH).replaceAll(/[\r\n\t]/g, ' ');
  return text.length > MAX_SHOWN_LENGTH ? `${line}…` : line;
}

/** How many requests have ended, by their status; `error` counts those without any. */
export class RequestTally {
  readonly #counts = new Map<string, number>();

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  increment(status: string): void {
    this.#counts.set(status, (this.#counts.get(status) ?? 0) + 1);
  }
}
