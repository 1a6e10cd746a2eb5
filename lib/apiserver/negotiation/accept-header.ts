/** One clause of an Accept header. */
export interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Reads an Accept header in the order in which Kubernetes tries its clauses: by its goautoneg, a concrete type
 * goes before a wildcard whatever their qualities are, and clauses that make no sense are passed over.
 */
export function parseAccept(header: string): readonly MediaRange[] {
  const ranges: MediaRange[] = [];
  for (const clause of header.split(',')) {
    const range = parseRange(clause);
    if (range) insert(ranges, range);
  }
  return ranges;
}

/** Puts a clause before those at the end that it beats; the relation is not transitive, so the order of steps counts. */
function insert(ranges: MediaRange[], range: MediaRange): void {
  let at = ranges.length;
  for (let before = ranges[at - 1]; before && beats(range, before); before = ranges[at - 1]) at--;
  ranges.splice(at, 0, range);
}

function beats(a: MediaRange, b: MediaRange): boolean {
  return (
    a.quality > b.quality || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*')
  );
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
