import { remembering } from '#lib/cache/memoize.ts';

/** One clause of an Accept header. */
export interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** A longer header is refused before it is read; kubectl's has 150 bytes. */
export const MAX_ACCEPT_BYTES = 8 * 1024;

/** Go's `sort.Sort` inserts up to so many; the order of more is its own affair there. */
const MOST_INSERTED = 12;

/**
 * Reads an Accept header in the order in which Kubernetes tries its clauses: by its goautoneg, a concrete type
 * goes before a wildcard whatever their qualities are, and clauses that make no sense are passed over.
 *
 * @returns nothing of a header beyond the bound
 */
export const parseAccept = remembering(readAccept, { most: 128, longest: 512 });

function readAccept(header: string): readonly MediaRange[] {
  if (header.length > MAX_ACCEPT_BYTES) return [];
  const ranges: MediaRange[] = [];
  for (const clause of header.split(',')) {
    const range = parseRange(clause);
    if (range) ranges.push(range);
  }
  return ranges.length > MOST_INSERTED ? ranges.toSorted(compare) : inserted(ranges);
}

/**
 * Puts each clause before those at the end that it beats. The relation is not transitive, so that the order of steps
 * counts: it is that of Go.
 */
function inserted(ranges: readonly MediaRange[]): readonly MediaRange[] {
  const sorted: MediaRange[] = [];
  for (const range of ranges) {
    let at = sorted.length;
    for (let before = sorted[at - 1]; before && beats(range, before); before = sorted[at - 1]) at--;
    sorted.splice(at, 0, range);
  }
  return sorted;
}

function beats(a: MediaRange, b: MediaRange): boolean {
  return (
    a.quality > b.quality || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*')
  );
}

/** Concrete ones first, then by quality: an order for any number of clauses, in which equal ones stay as they come. */
function compare(a: MediaRange, b: MediaRange): number {
  return wildcards(a) - wildcards(b) || b.quality - a.quality;
}

function wildcards({ type, subtype }: MediaRange): number {
  return Number(type === '*') + Number(subtype === '*');
}

function parseRange(clause: string): MediaRange | undefined {
  const [name = '', ...assignments] = clause.split(';');
  const [type = '', subtype = '', ...more] = name
    .trim()
    .split('/')
    .map((part) => part.trim());
  if (more.length > 0 || (subtype === '' && type !== '*')) return undefined;
  const parameters = new Map<string, string>();
  for (const assignment of assignments) {
    const [key = '', value = '', ...rest] = assignment.split('=');
    if (value !== '' && rest.length === 0) parameters.set(key.trim(), value.trim());
  }
  const quality = parameters.get('q');
  parameters.delete('q');
  return {
    type,
    subtype: subtype || '*',
    quality: quality === undefined ? 1 : Number(quality) || 0,
    parameters,
  };
}
