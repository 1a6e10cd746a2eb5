import { type StatefulObject, StatusWriter } from '#lib/control/status-writer.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { type KubernetesObject, keyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';
import { FIELD_MANAGER } from './resources.ts';

export interface StatusWrites<Status, T> {
  /** @returns the object after the write */
  write(object: T, status: Status, signal: AbortSignal): Promise<T>;
}

const INVALID = 422;

/**
 * Writes statuses by server-side apply, and by merge patch if the API server refuses that: Kubernetes 1.20 cannot apply to a
 * custom object that contains an empty string, as objects of KEDA do.
 *
 * @param objects existing objects by key
 */
export function createStatusWrites<Status extends object, T extends StatefulObject<Status>>(
  client: ResourceClient<T>,
  objects: { find(key: string): KubernetesObject | undefined },
  clock: Clock,
): StatusWrites<Status, T> {
  const writer = new StatusWriter<Status, T>({ client, fieldManager: FIELD_MANAGER, clock });
  /** UIDs of objects that are written by merge patch, by key. */
  const merged = new Map<string, string | undefined>();

  function recordMerged({ metadata }: T): void {
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
        recordMerged(object);
        return written;
      }
    },
  };
}
