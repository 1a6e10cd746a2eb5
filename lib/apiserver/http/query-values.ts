import { unescape as decodeBytes } from 'node:querystring';
import { goQuote } from '#lib/kubernetes/selectors/go-quote.ts';
import { badRequest } from './status-error.ts';

/**
 * Reads a query as Go's `url.ParseQuery` does for Kubernetes' servers: what has a semicolon in it, or is encoded
 * wrongly, counts for nothing.
 */
export function parseQuery(querystring: string): URLSearchParams {
  const query = new URLSearchParams();
  for (const pair of querystring.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const separator = pair.indexOf('=');
    const key = decode(separator < 0 ? pair : pair.slice(0, separator));
    const value = decode(separator < 0 ? '' : pair.slice(separator + 1));
    if (key !== undefined && value !== undefined) query.append(key, value);
  }
  return query;
}

function decode(text: string): string | undefined {
  return percentDecode(text.replaceAll('+', ' '));
}

/** A truth value of a query as Kubernetes reads it: only its absence, `false` and `0` are false. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/**
 * A whole number of a query, as Go's `strconv.ParseInt` reads it.
 *
 * @returns 0 where the query does not have it
 * @throws {StatusError} 400 with Go's message
 */
export function parseCount(value: string | null): number {
  if (value === null) return 0;
  if (!/^[+-]?\d+$/.test(value))
    throw badRequest(`strconv.ParseInt: parsing ${goQuote(value)}: invalid syntax`);
  const count = BigInt(value.replace('+', ''));
  if (BigInt.asIntN(64, count) !== count) {
    throw badRequest(`strconv.ParseInt: parsing ${goQuote(value)}: value out of range`);
  }
  return Number(count);
}

/**
 * Decodes a part of a URL as Go does: whatever bytes it stands for. Those that are no UTF-8 become U+FFFD, which no
 * name and no label has, so that what they stand in is looked for and refused instead of left out.
 *
 * @returns `undefined` where a percent sign has no two hexadecimal digits behind it
 */
export function percentDecode(text: string): string | undefined {
  if (/%(?![\da-f]{2})/i.test(text)) return undefined;
  return text.includes('%') ? decodeBytes(text) : text;
}

/** What the API server's clients put into any query. */
const OF_ALL: ReadonlySet<string> = new Set(['pretty', 'timeout']);
const MAX_SHOWN_LENGTH = 100;

/**
 * Refuses a query with a parameter that means nothing: misspelt, it would select everything.
 *
 * @throws {StatusError} 400 that names the first of these, and those that there are
 */
export function refuseUnknownParameters(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys()) {
    if (known.includes(name) || OF_ALL.has(name)) continue;
    const shown = JSON.stringify(name.slice(0, MAX_SHOWN_LENGTH));
    const there = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`;
    throw badRequest(`unknown query parameter ${shown}: ${there}`);
  }
}
