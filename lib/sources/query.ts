import { createHash } from 'node:crypto';
import type { Sample } from './sample.ts';

/** A request to a source that is repeated. */
export interface Query {
  /** Equal for equal queries of the same system with the same credentials; contains no secret. */
  readonly key: string;
  /** Names the query and its source in messages: one line without secrets. */
  readonly description: string;
  /**
   * The resource that namespaces share fairly, and the label of request series: a host, a connection, or a name given
   * by an administrator; contains no secret. Absent if requests do not wait for each other.
   */
  readonly source?: string;
  /** Concurrent requests to the source; by default 32. */
  readonly maxConcurrent?: number;
  /** Counts its HTTP requests. */
  readonly requests?: RequestTally | undefined;
  /** Timeout of a request; by default that of the collection. */
  readonly timeoutMs?: number;
  /**
   * @param note receives remarks about a successful result for people: one line each, without secrets
   * @throws an Error that names the query, the source and the cause, also if there is no result
   */
  run(signal: AbortSignal, note?: (text: string) => void): Promise<readonly Sample[]>;
}

/** Default timeout of queries, and the time that a query takes in addition to its request. */
const USUAL_MS = 15_000;
const MARGIN_MS = 1_000;

/** Extends the timeout of a query if its request may take longer than the default. */
export function extendTimeout(query: Query, requestTimeoutMs: number): Query {
  const timeoutMs = requestTimeoutMs + MARGIN_MS;
  return timeoutMs > USUAL_MS ? { ...query, timeoutMs } : query;
}

/** Identifies a secret value: the first 128 bits of the SHA-256 of its JSON. */
export function digest(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

const MAX_SHOWN_LENGTH = 200;

/** Shortens a query for logs, events and pages: one line of at most 200 characters. */
export function shorten(text: string): string {
  const line = text.slice(0, MAX_SHOWN_LENGTH).replaceAll(/[\r\n\t]/g, ' ');
  return text.length > MAX_SHOWN_LENGTH ? `${line}…` : line;
}

/** Counts completed requests by status; `error` counts those without a response. */
export class RequestTally {
  readonly #counts = new Map<string, number>();

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  increment(status: string): void {
    this.#counts.set(status, (this.#counts.get(status) ?? 0) + 1);
  }
}
