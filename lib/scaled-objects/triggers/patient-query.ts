import type { Query } from '#lib/sources/query.ts';

/** What queries have that say nothing, and what they have beyond their request: for a connection, and to be read. */
const USUAL_MS = 15_000;
const MARGIN_MS = 1_000;

/** A query that waits as long as its one request may take, where that is longer than queries usually wait. */
export function patientQuery(query: Query, requestTimeoutMs: number): Query {
  const timeoutMs = requestTimeoutMs + MARGIN_MS;
  return timeoutMs > USUAL_MS ? { ...query, timeoutMs } : query;
}
