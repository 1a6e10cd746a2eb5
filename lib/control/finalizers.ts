import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import { type ResourceClient, retryOnConflict } from '#lib/kubernetes/client/resource-client.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';

/** What finalizers are changed with. */
interface FinalizerOptions<T extends KubernetesObject> {
  readonly client: ResourceClient<T>;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

/**
 * Keeps an object from vanishing before {@link removeFinalizer}, so that what was done for it can be undone.
 *
 * @returns the object as it is now; `undefined` where it is gone
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
 * Lets an object vanish, as far as this finalizer is concerned.
 *
 * @returns the object as it is now; `undefined` where it is gone
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

/** Works from the object as it was given, and after a conflict from the object as it is now. */
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
    // With the version, the list is the one that was read: no finalizer of another client is lost.
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
