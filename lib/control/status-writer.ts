import { isDeepStrictEqual } from 'node:util';
import { type ResourceClient, retryOnConflict } from '#lib/kubernetes/client/resource-client.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { KubernetesObject, ObjectMeta, ObjectName } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { appliedStatus } from '#lib/kubernetes/objects/managed-fields.ts';
import type { Clock } from '#lib/time/clock.ts';

/** An object with a status. */
export interface StatefulObject<Status> extends KubernetesObject {
  readonly status?: Status | undefined;
}

interface StatusWriterOptions<Status extends object, T extends StatefulObject<Status>> {
  readonly client: ResourceClient<T>;
  /** The owner of the fields, such as `autoscaler-cronhpa`. */
  readonly fieldManager: string;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Whether two statuses are equivalent; by default, empty values equal absent ones. */
  readonly isSame?: (one: Status | undefined, other: Status | undefined) => boolean;
}

interface WriteOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes objects' statuses to the status subresource, and nothing where nothing would change:
 *
 * | | fields | over a status that another client has changed since |
 * | --- | --- | --- |
 * | `apply` | ours; those of other managers remain | writes |
 * | `applyOver` | ours; those of other managers remain | throws the conflict |
 * | `merge` | the difference to the status that was read | writes |
 * | `update` | all | throws the conflict |
 *
 * Other changes of the object do not matter: `applyOver` and `update` read it again, and write if its status is
 * unchanged. An object that was created again under the name is never written to. All of them return the object after
 * the write, and throw an ApiError: not found where the object does not exist.
 */
export class StatusWriter<Status extends object, T extends StatefulObject<Status>> {
  readonly #options: StatusWriterOptions<Status, T>;
  readonly #isSame: (one: Status | undefined, other: Status | undefined) => boolean;

  constructor(options: StatusWriterOptions<Status, T>) {
    this.#options = options;
    this.#isSame = options.isSame ?? isSamePlainStatus;
  }

  /**
   * Writes a status by server-side apply, unless it was applied before and is unchanged. For an object without
   * `managedFields`, the whole status is compared.
   *
   * @param object as it was read
   * @param status all of our fields: fields that were applied before and are absent now are removed; an empty string
   * counts as absent
   * @throws an ApiError: 422 where another object has the name
   */
  async apply(object: T, status: Status, options: WriteOptions = {}): Promise<T> {
    const plain = plainStatus(status);
    if (this.#isApplied(object, plain)) return object;
    const { resourceVersion: _, ...metadata } = referenceTo(object);
    return await this.#sendApplied(metadata, plain, options);
  }

  /** The same, where the new status depends on the status that was read. */
  async applyOver(object: T, status: Status, options: WriteOptions = {}): Promise<T> {
    const plain = plainStatus(status);
    if (this.#isApplied(object, plain)) return object;
    return await this.#over(object, options, (latest) =>
      this.#sendApplied(referenceTo(latest), plain, options),
    );
  }

  /** Writes a status by a merge patch: where server-side apply is refused. */
  async merge(object: T, status: Status, { signal }: WriteOptions = {}): Promise<T> {
    const before = object.status ?? {};
    const plain = plainStatus(status);
    if (isDeepStrictEqual(before, plain)) return object;
    const { fieldManager, client } = this.#options;
    const { uid } = object.metadata;
    const body = { metadata: { uid }, status: mergePatch(before, plain) };
    return await client.patch(
      referenceTo(object),
      { type: 'merge', body },
      { fieldManager, subresource: 'status', ...(signal && { signal }) },
    );
  }

  /** Replaces the status: where all of it is ours, or the kind's status cannot be applied or patched. */
  async update(object: T, status: Status, { signal }: WriteOptions = {}): Promise<T> {
    if (this.#isSame(object.status, status)) return object;
    const { client, fieldManager } = this.#options;
    return await this.#over(object, { signal }, (latest) =>
      client.update(
        { ...latest, status },
        { fieldManager, subresource: 'status', ...(signal && { signal }) },
      ),
    );
  }

  #isApplied(object: T, plain: unknown): boolean {
    const applied = appliedStatus(object, this.#options.fieldManager) ?? object.status;
    return isDeepStrictEqual(plainStatus(applied), plain);
  }

  /** Writes over the status that was read, whatever else of the object changes meanwhile. */
  async #over(object: T, { signal }: WriteOptions, write: (latest: T) => Promise<T>): Promise<T> {
    const { client, clock } = this.#options;
    const reread = async () => {
      const latest = await client.find(referenceTo(object), signal ? { signal } : {});
      const isObject = latest?.metadata.uid === object.metadata.uid;
      return isObject && this.#isSame(latest?.status, object.status) ? latest : undefined;
    };
    return await retryOnConflict(object, write, { reread, clock, signal });
  }

  async #sendApplied(metadata: ObjectName, status: unknown, { signal }: WriteOptions): Promise<T> {
    const { client, fieldManager } = this.#options;
    return await client.apply(
      { metadata, status },
      { fieldManager, force: true, subresource: 'status', ...(signal && { signal }) },
    );
  }
}

/**
 * A status as the API server would return it: without undefined values. Empty strings, nulls, lists and objects count
 * as absent at every depth: Kubernetes 1.20 makes a null of an empty string that is applied to a custom resource, and
 * refuses it; and for an empty object it records no manager.
 */
export function plainStatus(status: object | undefined): Readonly<Record<string, unknown>> {
  return (withoutEmpty(status) ?? {}) as Readonly<Record<string, unknown>>;
}

/** @returns `undefined` for an empty value */
function withoutEmpty(value: unknown): unknown {
  if (value === '' || value === null || value === undefined) return undefined;
  if (typeof value !== 'object') return value;
  // Positions in a list are significant, whatever their value.
  if (Array.isArray(value))
    return value.length > 0 ? value.map((item) => withoutEmpty(item) ?? item) : undefined;
  const plain = Object.entries(value).flatMap(([field, item]) => {
    const plainItem = withoutEmpty(item);
    return plainItem === undefined ? [] : [[field, plainItem] as const];
  });
  return plain.length === 0 ? undefined : Object.fromEntries(plain);
}

function isSamePlainStatus(one: object | undefined, other: object | undefined): boolean {
  return isDeepStrictEqual(plainStatus(one), plainStatus(other));
}

function referenceTo({
  metadata,
}: KubernetesObject): ObjectName & Pick<ObjectMeta, 'uid' | 'resourceVersion'> {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    name,
    ...(namespace && { namespace }),
    ...(uid && { uid }),
    ...(resourceVersion && { resourceVersion }),
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** The JSON merge patch from one object to the other: removed fields are null. */
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
