import { badRequest } from './status-error.ts';

/** What the API server's clients put into any query. */
const OF_ALL: ReadonlySet<string> = new Set(['pretty', 'timeout']);
const LONGEST_SHOWN = 100;

/**
 * Refuses a query with a parameter that means nothing: misspelt, it would select everything.
 *
 * @throws {StatusError} 400 that names the first of these, and those that there are
 */
export function refuseUnknownParameters(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys()) {
    if (known.includes(name) || OF_ALL.has(name)) continue;
    const shown = JSON.stringify(name.slice(0, LONGEST_SHOWN));
    const there = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`;
    throw badRequest(`unknown query parameter ${shown}: ${there}`);
  }
}
