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
