import { bytesOf, bytesOfAll, MEMORY_NAMES, type MemoryPart, MOST_BYTES } from './memory-part.ts';

/** Records by the part that is to have them. */
export interface PlacedRecords {
  readonly parts: readonly ReadonlyMap<string, string>[];
  /** What no part can take. */
  readonly refused: readonly string[];
}

/**
 * Places what has changed: a record stays in its part while it fits, else it goes to the first part that can take it. One
 * that none can take is refused, and what was kept of it before stays. A record that was found in two parts, for who moved
 * it was killed in between, is that of the part written later.
 */
export function placeRecords(
  before: readonly MemoryPart[],
  changes: ReadonlyMap<string, string | undefined>,
  isKnown: (name: string) => boolean,
): PlacedRecords {
  const parts = MEMORY_NAMES.map((_, place) => new Map(before[place]?.records));
  const placeOf = placesOf(before);
  parts.forEach((records, place) => {
    for (const name of records.keys()) {
      const isOurs = placeOf.get(name) === place && isKnown(name);
      const isGone = changes.has(name) && changes.get(name) === undefined;
      if (!isOurs || isGone) records.delete(name);
    }
  });
  const closed = before.findIndex(({ isClosed }) => isClosed);
  const open = closed === -1 ? parts : parts.slice(0, closed);
  const bytes = open.map(bytesOfAll);
  const refused: string[] = [];
  for (const [name, text] of changes) {
    if (text === undefined) continue;
    const size = bytesOf(name, text);
    const own = placeOf.get(name) ?? -1;
    const kept = parts[own]?.get(name);
    const keptSize = kept === undefined ? 0 : bytesOf(name, kept);
    const fits = (place: number) =>
      (bytes[place] ?? MOST_BYTES) + size - (place === own ? keptSize : 0) <= MOST_BYTES;
    const place = fits(own) ? own : open.findIndex((_, one) => fits(one));
    if (place === -1) {
      refused.push(name);
      continue;
    }
    parts[own]?.delete(name);
    if (bytes[own] !== undefined) bytes[own] -= keptSize;
    open[place]?.set(name, text);
    bytes[place] = (bytes[place] ?? 0) + size;
  }
  return { parts, refused };
}

/**
 * Which parts are to be written, in their order: first those that have to be made, for parts are read until there is none;
 * then those to which records move, so that these are there before they go; at last the others, the last of all first, so
 * that an empty one goes before the one that leads to it.
 */
export function writingOrder(
  before: readonly MemoryPart[],
  wanted: readonly ReadonlyMap<string, string>[],
): readonly number[] {
  const placeOf = placesOf(before);
  const last = wanted.findLastIndex(({ size }) => size > 0);
  const isOver = (place: number) => place > last && before[place]?.metadata !== undefined;
  const changed = [...wanted.keys()].filter(
    (place) => isOver(place) || !isEqual(before[place]?.records, wanted[place]),
  );
  const isMade = (place: number) => before[place]?.metadata === undefined;
  const isReached = (place: number) =>
    [...(wanted[place]?.keys() ?? [])].some((name) => (placeOf.get(name) ?? place) !== place);
  const made = changed.filter(isMade);
  const reached = changed.filter((place) => !isMade(place) && isReached(place));
  const others = changed.filter((place) => !isMade(place) && !isReached(place));
  return [...made, ...reached, ...others.reverse()];
}

/** In which part each record is that counts. */
export function placesOf(parts: readonly MemoryPart[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  const versionOf = (place: number | undefined) =>
    place === undefined ? -1 : Number(parts[place]?.metadata?.resourceVersion ?? 0);
  parts.forEach(({ records }, place) => {
    for (const name of records.keys())
      if (versionOf(place) > versionOf(places.get(name))) places.set(name, place);
  });
  return places;
}

function isEqual(
  some: ReadonlyMap<string, string> = new Map(),
  others: ReadonlyMap<string, string> = new Map(),
): boolean {
  return some.size === others.size && [...some].every(([name, text]) => others.get(name) === text);
}
