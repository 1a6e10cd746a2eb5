import { unescape as decodeBytes } from 'node:querystring';
import { goQuote } from '#lib/kubernetes/selectors/go-quote.ts';
import { badRequest } from './status-error.ts';

/**
 * Parses a query as Go's `url.ParseQuery` does for Kubernetes' servers: parts with a semicolon or invalid encoding are
 * ignored.
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

/** Parses a boolean as Kubernetes does: only an absent value, `false` and `0` are false. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/**
 * Parses an integer as Go's `strconv.ParseInt` does.
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
 * Decodes a part of a URL as Go does, to arbitrary bytes. Invalid UTF-8 becomes U+FFFD, which no name and no label
 * contains, so that the value is looked up and refused instead of ignored.
 *
 * @returns `undefined` where a percent sign is not followed by two hexadecimal digits
 */
export function percentDecode(text: string): string | undefined {
  if (/%(?![\da-f]{2})/i.test(text)) return undefined;
  return text.includes('%') ? decodeBytes(text) : text;
}

/** Parameters that the API server's clients add to any query. */
const OF_ALL: ReadonlySet<string> = new Set(['pretty', 'timeout']);
const MAX_SHOWN_LENGTH = 100;

/**
 * Refuses a query with an unknown parameter: if it is misspelt, ignoring it would select everything.
 *
 * @throws {StatusError} 400 with the first unknown parameter and the supported ones
 */
export function refuseUnknownParameters(query: URLSearchParams, supported: readonly string[]): void {
  for (const name of query.keys()) {
    if (supported.includes(name) || OF_ALL.has(name)) continue;
    const shown = JSON.stringify(name.slice(0, MAX_SHOWN_LENGTH));
    const there = supported.length === 0 ? 'none is supported' : `supported: ${supported.join(', ')}`;
    throw badRequest(`unknown query parameter ${shown}: ${there}`);
  }
}
