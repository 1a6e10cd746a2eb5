import { type StatefulObject, StatusWriter } from '#lib/control/status-writer.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { type KubernetesObject, keyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';
import { FIELD_MANAGER } from './resources.ts';

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
  clock: Clock,
): WrittenStatuses<Status, T> {
  const writer = new StatusWriter<Status, T>({ client, fieldManager: FIELD_MANAGER, clock });
  /** UIDs of objects that could not be applied to, by their keys. */
  const merged = new Map<string, string | undefined>();

  function remember({ metadata }: T): void {
    for (const [key, uid] of merged) if (objects.find(key)?.metadata.uid !== uid) merged.delete(key);
    merged.set(keyOf(metadata), metadata.uid);
  }

  return {
    async write(object, status, signal) {
      const { uid } = object.metadata;
      if (uid !== undefined && merged.get(keyOf(object.metadata)) === uid)
        return await writer.merge(object, status, { signal });
      try {
        return await writer.apply(object, status, { signal });
      } catch (error) {
        if (!(error instanceof ApiError) || error.statusCode !== INVALID) throw error;
        const written = await writer.merge(object, status, { signal });
        remember(object);
        return written;
      }
    },
  };
}
