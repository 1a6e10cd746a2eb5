import * as z from 'zod';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import {
  type KubernetesObject,
  type ObjectMeta,
  readObject,
} from '#lib/kubernetes/objects/kubernetes-object.ts';

export interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

const CONFIG_MAP = z.object({ data: z.record(z.string(), z.string()).nullish() });

/** Reads a ConfigMap. @throws an Error with the name of the field that has the wrong type */
export function readConfigMap(value: unknown): ConfigMap {
  const { metadata } = readObject(value);
  const { data } = readAs(CONFIG_MAP, 'a ConfigMap', value);
  return { metadata, ...(data && { data }) };
}

/** ConfigMaps in each namespace with HPA state; the next one is used when one is full. */
export const CONFIG_MAP_NAMES = [
  'autoscaler-hpa-memory',
  ...['autoscaler-hpa-memory-2', 'autoscaler-hpa-memory-3', 'autoscaler-hpa-memory-4'],
] as const;

/** Maximum of one part: the API server accepts 1 MiB of values, and etcd 1.5 MiB in all. */
export const MAX_BYTES = 900_000;

/** One ConfigMap with state of a namespace. */
export interface StatePart {
  /** `undefined` for a part that does not exist yet. */
  readonly metadata: ObjectMeta | undefined;
  readonly records: ReadonlyMap<string, string>;
  /** It may not be read, so nothing is written to it. */
  readonly isClosed?: true;
}

export function bytesOf(name: string, text: string): number {
  return Buffer.byteLength(name) + Buffer.byteLength(text);
}

export function bytesOfAll(records: ReadonlyMap<string, string>): number {
  let bytes = 0;
  for (const [name, text] of records) bytes += bytesOf(name, text);
  return bytes;
}

/** How far parts are read beyond a missing one: a user may have deleted a single one. */
const READ_BEYOND = 1;

/**
 * Reads the state of a namespace, part by part until two in a row are missing.
 *
 * @param isThorough reads all parts, whichever are missing
 */
export async function getParts(
  configMaps: ResourceClient<ConfigMap>,
  namespace: string,
  { isThorough = false }: { readonly isThorough?: boolean } = {},
): Promise<readonly StatePart[]> {
  const parts: StatePart[] = [];
  let absent = 0;
  for (const [index, name] of CONFIG_MAP_NAMES.entries()) {
    const part = await getPart(configMaps, { namespace, name, isFirst: index === 0 });
    parts.push(part);
    absent = part.metadata ? 0 : absent + 1;
    if (!isThorough && (part.isClosed || absent > READ_BEYOND)) break;
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
): Promise<StatePart> {
  try {
    const found = await configMaps.find({ namespace, name });
    return { metadata: found?.metadata, records: new Map(Object.entries(found?.data ?? {})) };
  } catch (error) {
    // RBAC rules of earlier versions name only the first part.
    const isForbidden = !isFirst && error instanceof ApiError && error.statusCode === 403;
    if (isForbidden) return { metadata: undefined, records: new Map(), isClosed: true };
    throw error;
  }
}

/**
 * Writes one part.
 *
 * @param index in {@link CONFIG_MAP_NAMES}
 * @param isRetained whether an empty part must exist: parts are read until one is missing
 */
export async function writePart(
  configMaps: ResourceClient<ConfigMap>,
  namespace: string,
  {
    index,
    part,
    isRetained,
  }: { readonly index: number; readonly part: StatePart; readonly isRetained: boolean },
): Promise<StatePart> {
  const { metadata, records } = part;
  const name = CONFIG_MAP_NAMES[index] ?? '';
  const data = Object.fromEntries(records);
  if (!metadata) {
    if (records.size === 0 && !isRetained) return part;
    const labels = { 'app.kubernetes.io/managed-by': 'autoscaler' };
    return {
      metadata: (await configMaps.create({ metadata: { namespace, name, labels }, data })).metadata,
      records,
    };
  }
  if (records.size > 0 || isRetained)
    return { metadata: (await configMaps.update({ metadata, data })).metadata, records };
  const { uid, resourceVersion } = metadata;
  await configMaps.delete(
    { namespace, name },
    { preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) } },
  );
  return { metadata: undefined, records };
}

/** Records by part. */
interface AssignedRecords {
  readonly parts: readonly ReadonlyMap<string, string>[];
  /** Records that fit in no part. */
  readonly refused: readonly string[];
}

/**
 * Assigns changed records to parts: a record stays in its part while it fits, otherwise it moves to the first part with
 * room. A record that fits in none is refused, and its previous version stays. Of a record found in two parts, because a
 * process was killed during a move, the later part counts.
 */
export function assignRecords(
  before: readonly StatePart[],
  changes: ReadonlyMap<string, string | undefined>,
  isKnown: (name: string) => boolean,
): AssignedRecords {
  const parts = CONFIG_MAP_NAMES.map((_, index) => new Map(before[index]?.records));
  const indexOf = findPartIndexes(before);
  parts.forEach((records, index) => {
    for (const name of records.keys()) {
      const isOurs = indexOf.get(name) === index && isKnown(name);
      const isDeleted = changes.has(name) && changes.get(name) === undefined;
      if (!isOurs || isDeleted) records.delete(name);
    }
  });
  const closed = before.findIndex(({ isClosed }) => isClosed);
  const open = closed === -1 ? parts : parts.slice(0, closed);
  const bytes = open.map(bytesOfAll);
  const refused: string[] = [];
  for (const [name, text] of changes) {
    if (text === undefined) continue;
    const size = bytesOf(name, text);
    const own = indexOf.get(name) ?? -1;
    const current = parts[own]?.get(name);
    const currentSize = current === undefined ? 0 : bytesOf(name, current);
    const fits = (index: number) =>
      (bytes[index] ?? MAX_BYTES) + size - (index === own ? currentSize : 0) <= MAX_BYTES;
    const index = fits(own) ? own : open.findIndex((_, one) => fits(one));
    if (index === -1) {
      refused.push(name);
      continue;
    }
    parts[own]?.delete(name);
    if (bytes[own] !== undefined) bytes[own] -= currentSize;
    open[index]?.set(name, text);
    bytes[index] = (bytes[index] ?? 0) + size;
  }
  return { parts, refused };
}

/**
 * The order in which parts are written: new parts first, because parts are read until one is missing; then those that
 * records move to, before the records are removed elsewhere; then the others, last to first, so that an empty part is
 * deleted before the ones that lead to it.
 */
export function writingOrder(
  before: readonly StatePart[],
  desired: readonly ReadonlyMap<string, string>[],
): readonly number[] {
  const indexOf = findPartIndexes(before);
  const last = desired.findLastIndex(({ size }) => size > 0);
  const isOver = (index: number) => index > last && before[index]?.metadata !== undefined;
  const changed = [...desired.keys()].filter(
    (index) => isOver(index) || !isEqual(before[index]?.records, desired[index]),
  );
  const isMade = (index: number) => before[index]?.metadata === undefined;
  const isReached = (index: number) =>
    [...(desired[index]?.keys() ?? [])].some((name) => (indexOf.get(name) ?? index) !== index);
  const made = changed.filter(isMade);
  const reached = changed.filter((index) => !isMade(index) && isReached(index));
  const others = changed.filter((index) => !isMade(index) && !isReached(index));
  return [...made, ...reached, ...others.reverse()];
}

/** The part of each record that counts. */
export function findPartIndexes(parts: readonly StatePart[]): ReadonlyMap<string, number> {
  const indexes = new Map<string, number>();
  const versionOf = (index: number | undefined) =>
    index === undefined ? -1 : Number(parts[index]?.metadata?.resourceVersion ?? 0);
  parts.forEach(({ records }, index) => {
    for (const name of records.keys())
      if (versionOf(index) > versionOf(indexes.get(name))) indexes.set(name, index);
  });
  return indexes;
}

function isEqual(
  some: ReadonlyMap<string, string> = new Map(),
  others: ReadonlyMap<string, string> = new Map(),
): boolean {
  return some.size === others.size && [...some].every(([name, text]) => others.get(name) === text);
}
