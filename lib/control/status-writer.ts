import { isDeepStrictEqual } from 'node:util';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { KubernetesObject } from '#lib/kubernetes/kubernetes-object.ts';
import { appliedStatus } from './applied-fields.ts';

/** An object with a status. */
export interface StatefulObject<Status> extends KubernetesObject {
  readonly status?: Status | undefined;
}

/** What statuses are written with. */
export interface StatusWriterOptions<T extends KubernetesObject> {
  readonly client: ResourceClient<T>;
  /** To whom the fields belong, as in `autoscaler-cronhpa`. */
  readonly fieldManager: string;
}

/**
 * Writes objects' statuses, by server-side apply to the status subresource: the fields are ours, and fields that others
 * have added stay.
 */
export class StatusWriter<Status extends object, T extends StatefulObject<Status>> {
  readonly #options: StatusWriterOptions<T>;

  constructor(options: StatusWriterOptions<T>) {
    this.#options = options;
  }

  /**
   * Writes a status, unless what we have applied before is the same and still there; others' fields do not count.
   * Of an object without `managedFields`, the whole status is compared.
   *
   * @param object as it was read; of an object that was made again under its name, nothing is written
   * @param status all of ours: what it leaves out and we wrote before is taken away
   * @returns the object as it is now
   * @throws an ApiError: not found where the object is gone, a conflict where another of that name is there
   */
  async write(object: T, status: Status, signal?: AbortSignal): Promise<T> {
    const { client, fieldManager } = this.#options;
    const plain = JSON.parse(JSON.stringify(status)); // as it would come back: without what is undefined
    const current = appliedStatus(object, fieldManager) ?? object.status ?? {};
    if (isDeepStrictEqual(current, plain)) return object;
    const { name, namespace, uid } = object.metadata;
    return await client.apply(
      { metadata: { name, ...(namespace && { namespace }), ...(uid && { uid }) }, status: plain },
      { fieldManager, force: true, subresource: 'status', ...(signal && { signal }) },
    );
  }
}
