import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import { type ResourceClient, retryOnConflict } from '#lib/kubernetes/client/resource-client.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';

interface FinalizerOptions<T extends KubernetesObject> {
  readonly client: ResourceClient<T>;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

/**
 * Keeps a deleted object until {@link removeFinalizer}, so that changes for it can be undone.
 *
 * @returns the current object; `undefined` where it does not exist
 * @throws an ApiError that is invalid where the object is being deleted: then it is too late
 */
export async function addFinalizer<T extends KubernetesObject>(
  object: T,
  finalizer: string,
  options: FinalizerOptions<T>,
): Promise<T | undefined> {
  return await change(object, options, (finalizers) =>
    finalizers.includes(finalizer) ? finalizers : [...finalizers, finalizer],
  );
}

/**
 * Removes the finalizer from an object.
 *
 * @returns the current object; `undefined` where it does not exist
 */
export async function removeFinalizer<T extends KubernetesObject>(
  object: T,
  finalizer: string,
  options: FinalizerOptions<T>,
): Promise<T | undefined> {
  return await change(object, options, (finalizers) =>
    finalizers.includes(finalizer) ? finalizers.filter((one) => one !== finalizer) : finalizers,
  );
}

/** Begins with the given object, and continues with the current one after a conflict. */
async function change<T extends KubernetesObject>(
  object: T,
  { client, clock, signal }: FinalizerOptions<T>,
  changed: (finalizers: readonly string[]) => readonly string[],
): Promise<T | undefined> {
  const options = signal ? { signal } : {};
  const write = async ({ latest }: { readonly latest: T | undefined }): Promise<T | undefined> => {
    if (!latest || latest.metadata.uid !== object.metadata.uid) return undefined;
    const { finalizers = [], resourceVersion } = latest.metadata;
    const after = changed(finalizers);
    if (after === finalizers) return latest;
    // The resource version protects finalizers of other clients.
    const body = { metadata: { resourceVersion, finalizers: after } };
    return await client.patch(object.metadata, { type: 'merge', body }, options);
  };
  const reread = async () => ({ latest: await client.find(object.metadata, options) });
  return await retryOnConflict({ latest: object }, write, { reread, clock, signal }).catch(
    (error: unknown) => {
      if (isNotFound(error)) return undefined; // informers observe it later than the API server
      throw error;
    },
  );
}
