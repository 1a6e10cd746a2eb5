import { isDeepStrictEqual } from 'node:util';
import { plainStatus, type StatefulObject, StatusWriter } from '#lib/control/status-writer.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { type KubernetesObject, keyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { FIELD_MANAGER } from './resources.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What a JSON merge patch says that makes the one object of the other: what is gone is null. */
export function mergePatch(before: object, after: object): Fields {
  const [was, is] = [before as Fields, after as Fields];
  const patch = new Map<string, unknown>();
  for (const field of Object.keys(was)) if (!Object.hasOwn(is, field)) patch.set(field, null);
  for (const [field, value] of Object.entries(is)) {
    const previous = getOwn(was, field);
    patch.set(field, isObject(previous) && isObject(value) ? mergePatch(previous, value) : value);
  }
  return Object.fromEntries(patch);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Writes statuses of one kind. */
export interface WrittenStatuses<Status, T> {
  /** @returns the object as it is now */
  write(object: T, status: Status, signal: AbortSignal): Promise<T>;
}

const INVALID = 422;

/**
 * Writes statuses by server-side apply, and by merge where that cannot be: Kubernetes 1.20 refuses to apply anything to a
 * custom object in which an empty text stands anywhere, as KEDA leaves them.
 *
 * @param objects those that there are, by their keys
 */
export function writtenStatuses<Status extends object, T extends StatefulObject<Status>>(
  client: ResourceClient<T>,
  objects: { find(key: string): KubernetesObject | undefined },
): WrittenStatuses<Status, T> {
  const writer = new StatusWriter<Status, T>({ client, fieldManager: FIELD_MANAGER });
  /** UIDs of objects that could not be applied to, by their keys. */
  const merged = new Map<string, string | undefined>();

  function remember({ metadata }: T): void {
    for (const [key, uid] of merged) if (objects.find(key)?.metadata.uid !== uid) merged.delete(key);
    merged.set(keyOf(metadata), metadata.uid);
  }

  async function merge(object: T, status: Status, signal: AbortSignal): Promise<T> {
    const { uid, name, namespace } = object.metadata;
    const before = object.status ?? {};
    const plain = plainStatus(status);
    if (isDeepStrictEqual(before, plain)) return object;
    const body = { metadata: { uid }, status: mergePatch(before, plain) };
    const at = { name, ...(namespace && { namespace }) };
    return await client.patch(
      at,
      { type: 'merge', body },
      { fieldManager: FIELD_MANAGER, subresource: 'status', signal },
    );
  }

  return {
    async write(object, status, signal) {
      const { uid } = object.metadata;
      if (uid !== undefined && merged.get(keyOf(object.metadata)) === uid)
        return await merge(object, status, signal);
      try {
        return await writer.write(object, status, signal);
      } catch (error) {
        if (!(error instanceof ApiError) || error.statusCode !== INVALID) throw error;
        const written = await merge(object, status, signal);
        remember(object);
        return written;
      }
    },
  };
}
