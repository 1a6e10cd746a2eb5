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

/** What statuses are written with. */
interface StatusWriterOptions<Status extends object, T extends StatefulObject<Status>> {
  readonly client: ResourceClient<T>;
  /** The owner of the fields, as in `autoscaler-cronhpa`. */
  readonly fieldManager: string;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Whether two statuses mean the same; by default, what is empty means the same as what is left out. */
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
 * | `apply` | ours; those of other managers stay | writes |
 * | `applyOver` | ours; those of other managers stay | throws the conflict |
 * | `merge` | ours by difference to what was read | writes |
 * | `update` | all | throws the conflict |
 *
 * Other changes of the object are no obstacle to any of them: `applyOver` and `update` read it again, and write if its
 * status is still the one that they follow from. An object that was created again under the name is never written to.
 * All of them return the object as it is after the write, and throw an ApiError: not found where the object is gone.
 */
export class StatusWriter<Status extends object, T extends StatefulObject<Status>> {
  readonly #options: StatusWriterOptions<Status, T>;
  readonly #isSame: (one: Status | undefined, other: Status | undefined) => boolean;

  constructor(options: StatusWriterOptions<Status, T>) {
    this.#options = options;
    this.#isSame = options.isSame ?? isSamePlainStatus;
  }

  /**
   * Writes a status by server-side apply, unless what was applied before is the same and still there. Of an object without
   * `managedFields`, the whole status is compared.
   *
   * @param object as it was read
   * @param status all of ours: what it leaves out and was applied before is removed; an empty text counts as left out
   * @throws an ApiError: 422 where another object has the name
   */
  async apply(object: T, status: Status, options: WriteOptions = {}): Promise<T> {
    const plain = plainStatus(status);
    if (this.#isApplied(object, plain)) return object;
    const { resourceVersion: _, ...metadata } = referenceTo(object);
    return await this.#sendApplied(metadata, plain, options);
  }

  /** The same, where what is written follows from the status that the object was read with. */
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

  /** Writes over the status that an object was read with, whatever else of it changes meanwhile. */
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

/** The JSON merge patch that makes the one object of the other: what is removed is null. */
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
