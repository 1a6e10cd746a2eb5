import { isDeepStrictEqual } from 'node:util';
import { isConflict } from '#lib/kubernetes/client/api-error.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { KubernetesObject, ObjectName } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { appliedStatus } from '#lib/kubernetes/objects/managed-fields.ts';

/** An object with a status. */
export interface StatefulObject<Status> extends KubernetesObject {
  readonly status?: Status | undefined;
}

/** What statuses are written with. */
interface StatusWriterOptions<T extends KubernetesObject> {
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
   * @param status all of ours: what it leaves out and we wrote before is taken away; an empty text counts as left out
   * @returns the object as it is now
   * @throws an ApiError: not found where the object is gone; 422 where another of that name is there
   */
  async write(object: T, status: Status, signal?: AbortSignal): Promise<T> {
    const plain = plainStatus(status);
    return this.#isThere(object, plain) ? object : await this.#apply(object, plain, signal);
  }

  /**
   * The same, but only over the status that the object was read with: where what is written follows from it, and must
   * not be written over what somebody else has written since. Other changes of the object are no obstacle.
   *
   * @throws an ApiError that is a conflict where the status is another one by now
   */
  async writeOver(object: T, status: Status, signal?: AbortSignal): Promise<T> {
    const plain = plainStatus(status);
    if (this.#isThere(object, plain)) return object;
    const { client } = this.#options;
    let { resourceVersion } = object.metadata;
    for (let conflicts = 0; ; conflicts++) {
      try {
        return await this.#apply(object, plain, signal, resourceVersion);
      } catch (error) {
        if (!isConflict(error) || conflicts >= MOST_CONFLICTS) throw error;
        const latest = await client.find(nameOf(object), signal ? { signal } : {});
        if (!latest || latest.metadata.uid !== object.metadata.uid) throw error;
        if (!isDeepStrictEqual(plainStatus(latest.status), plainStatus(object.status))) throw error;
        ({ resourceVersion } = latest.metadata);
      }
    }
  }

  #isThere(object: T, plain: unknown): boolean {
    const there = appliedStatus(object, this.#options.fieldManager) ?? object.status;
    return isDeepStrictEqual(plainStatus(there as Status), plain);
  }

  async #apply(
    object: T,
    status: unknown,
    signal: AbortSignal | undefined,
    resourceVersion?: string,
  ): Promise<T> {
    const { client, fieldManager } = this.#options;
    const { uid } = object.metadata;
    const metadata = { ...nameOf(object), ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
    return await client.apply(
      { metadata, status },
      { fieldManager, force: true, subresource: 'status', ...(signal && { signal }) },
    );
  }
}

const MOST_CONFLICTS = 5;

function nameOf({ metadata: { name, namespace } }: KubernetesObject): ObjectName {
  return { name, ...(namespace && { namespace }) };
}

/**
 * A status as it would come back: without what is undefined. Empty texts, nulls, lists and objects are left out, too, at every
 * depth, and mean the same as what is not there: of an empty text that is applied to a custom resource Kubernetes 1.20 makes a
 * null, and refuses it; of an empty object it does not tell whose it is.
 */
export function plainStatus(status: object | undefined): Readonly<Record<string, unknown>> {
  return (withoutEmpty(status) ?? {}) as Readonly<Record<string, unknown>>;
}

/** @returns `undefined` for what is empty */
function withoutEmpty(value: unknown): unknown {
  if (value === '' || value === null || value === undefined) return undefined;
  if (typeof value !== 'object') return value;
  // The places of a list have a meaning, whatever is in them.
  if (Array.isArray(value))
    return value.length > 0 ? value.map((item) => withoutEmpty(item) ?? item) : undefined;
  const plain = Object.entries(value).flatMap(([field, item]) => {
    const plainItem = withoutEmpty(item);
    return plainItem === undefined ? [] : [[field, plainItem] as const];
  });
  return plain.length === 0 ? undefined : Object.fromEntries(plain);
}
