import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { KubernetesObject, ObjectMeta } from '#lib/kubernetes/objects/kubernetes-object.ts';

/** What an object of the kind ConfigMap holds. */
export interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** In each namespace that has an HPA with something to remember; what does not fit goes on in the next. */
export const MEMORY_NAMES = [
  'autoscaler-hpa-memory',
  ...['autoscaler-hpa-memory-2', 'autoscaler-hpa-memory-3', 'autoscaler-hpa-memory-4'],
] as const;

/** So much one of them takes: the API server takes 1 MiB of values, and etcd 1.5 MiB of all. */
export const MOST_BYTES = 900_000;

/** One ConfigMap of a namespace's memory, as it is there. */
export interface MemoryPart {
  /** `undefined` where there is none yet. */
  readonly metadata: ObjectMeta | undefined;
  readonly records: ReadonlyMap<string, string>;
  /** It may not be read, so nothing is put there. */
  readonly isClosed?: true;
}

/** How much a record takes of a part. */
export function bytesOf(name: string, text: string): number {
  return Buffer.byteLength(name) + Buffer.byteLength(text);
}

/** How much all records of a part take. */
export function bytesOfAll(records: ReadonlyMap<string, string>): number {
  let bytes = 0;
  for (const [name, text] of records) bytes += bytesOf(name, text);
  return bytes;
}

/** How far beyond a part that is not there another is looked for: somebody may have deleted it alone. */
const LOOK_BEYOND = 1;

/**
 * Reads the memory of a namespace, part by part until two in a row are not there.
 *
 * @param isThorough looks for all of them, whichever are there
 */
export async function getParts(
  configMaps: ResourceClient<ConfigMap>,
  namespace: string,
  { isThorough = false }: { readonly isThorough?: boolean } = {},
): Promise<readonly MemoryPart[]> {
  const parts: MemoryPart[] = [];
  let absent = 0;
  for (const [place, name] of MEMORY_NAMES.entries()) {
    const part = await getPart(configMaps, { namespace, name, isFirst: place === 0 });
    parts.push(part);
    absent = part.metadata ? 0 : absent + 1;
    if (!isThorough && (part.isClosed || absent > LOOK_BEYOND)) break;
  }
  return parts;
}

async function getPart(
  configMaps: ResourceClient<ConfigMap>,
  {
    namespace,
    name,
    isFirst,
  }: { readonly namespace: string; readonly name: string; readonly isFirst: boolean },
): Promise<MemoryPart> {
  try {
    const found = await configMaps.find({ namespace, name });
    return { metadata: found?.metadata, records: new Map(Object.entries(found?.data ?? {})) };
  } catch (error) {
    // Permissions of before there were several name the first alone.
    const isForbidden = !isFirst && error instanceof ApiError && error.statusCode === 403;
    if (isForbidden) return { metadata: undefined, records: new Map(), isClosed: true };
    throw error;
  }
}

/**
 * Writes one part as it should be.
 *
 * @param place among {@link MEMORY_NAMES}
 * @param isKept whether it has to be there though it is empty: parts are read until there is none
 */
export async function writePart(
  configMaps: ResourceClient<ConfigMap>,
  namespace: string,
  { place, part, isKept }: { readonly place: number; readonly part: MemoryPart; readonly isKept: boolean },
): Promise<MemoryPart> {
  const { metadata, records } = part;
  const name = MEMORY_NAMES[place] ?? '';
  const data = Object.fromEntries(records);
  if (!metadata) {
    if (records.size === 0 && !isKept) return part;
    const labels = { 'app.kubernetes.io/managed-by': 'autoscaler' };
    return {
      metadata: (await configMaps.create({ metadata: { namespace, name, labels }, data })).metadata,
      records,
    };
  }
  if (records.size > 0 || isKept)
    return { metadata: (await configMaps.update({ metadata, data })).metadata, records };
  const { uid, resourceVersion } = metadata;
  await configMaps.delete(
    { namespace, name },
    { preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) } },
  );
  return { metadata: undefined, records };
}

/** Records by the part that is to have them. */
interface PlacedRecords {
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
