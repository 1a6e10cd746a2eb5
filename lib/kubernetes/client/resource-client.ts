import type { Clock } from '#lib/time/clock.ts';
import {
  type KubernetesObject,
  type ObjectName,
  objectMetadata,
  readObject,
} from '../objects/kubernetes-object.ts';
import type { ApiClient, RequestOptions } from './api-client.ts';
import { isConflict, isNotFound, MalformedResponse } from './api-error.ts';
import { type ApiResource, collectionPath, formatApiVersion, objectPath } from './api-resource.ts';
import { listCollection } from './list-watch.ts';

interface ResourceClientOptions<T> {
  readonly api: ApiClient;
  /** Where the objects are served. A function is called for each request: an upgrade of the API server may change the version. */
  readonly resource: ApiResource | ((signal: AbortSignal) => Promise<ApiResource>);
  /** Decodes an object; throws when it is invalid. By default, only its metadata is checked. */
  readonly read?: (value: unknown, version: string) => T;
  /** Encodes an object for `update`; by default the object itself. */
  readonly format?: (object: T, version: string) => KubernetesObject;
}

/** Options of a request for one object. */
interface ObjectRequestOptions extends Pick<RequestOptions, 'signal' | 'timeoutMs'> {
  /** Such as `status`. */
  readonly subresource?: string;
}

/** Options of a write. */
interface WriteOptions extends ObjectRequestOptions {
  /** The manager that is recorded for the changed fields. */
  readonly fieldManager?: string;
  /** Whether the server validates the write without persisting it. */
  readonly dryRun?: boolean;
}

/** A change of an object: RFC 7396, RFC 6902, or Kubernetes' strategic merge, which merges lists by key. */
type Patch =
  | { readonly type: 'merge'; readonly body: object }
  | { readonly type: 'json'; readonly body: readonly JsonPatchOperation[] }
  | { readonly type: 'strategic'; readonly body: object };

/** An operation of a JSON patch. */
interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/** Selection of a list. */
interface ListOptions extends Pick<RequestOptions, 'signal' | 'timeoutMs'> {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

interface DeleteOptions extends WriteOptions {
  /** The object is deleted only if it has this UID or version. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
}

const PATCH_TYPES = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

/** Reads and writes the objects of one resource. Failures are those of {@link ApiClient}. */
export class ResourceClient<T extends KubernetesObject = KubernetesObject> {
  readonly #api: ApiClient;
  readonly #resource: ResourceClientOptions<T>['resource'];
  readonly #read: (value: unknown, version: string) => T;
  readonly #format: (object: T, version: string) => KubernetesObject;

  constructor(options: ResourceClientOptions<T>) {
    const { api, resource, read = readObject<T>, format = (object: T) => object } = options;
    this.#resource = resource;
    this.#api = api;
    this.#read = read;
    this.#format = format;
  }

  async get(object: ObjectName, options: ObjectRequestOptions = {}): Promise<T> {
    const resource = await this.#locate(options);
    const path = objectPath(resource, object, options.subresource);
    return this.#take(path, await this.#api.getJson(path, options), resource);
  }

  /** The object, or `undefined` where it does not exist. */
  async find(object: ObjectName, options: ObjectRequestOptions = {}): Promise<T | undefined> {
    try {
      return await this.get(object, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /**
   * All objects, page by page, in one consistent state.
   *
   * @throws a {@link MalformedResponse} that names the first object that cannot be read: a list without it would be
   * wrong
   */
  async list({ namespace, labelSelector, fieldSelector, ...options }: ListOptions = {}): Promise<T[]> {
    const resource = await this.#locate(options);
    const path = collectionPath(resource, namespace);
    const objects: T[] = [];
    const visit = (value: unknown) => {
      const { key = 'an object without a name' } = objectMetadata(value) ?? {};
      objects.push(this.#take(`${path}, ${key}`, value, resource));
    };
    await listCollection(this.#api, { path, labelSelector, fieldSelector }, { ...options, visit });
    return objects;
  }

  async create(
    object: Omit<T, 'metadata'> & { readonly metadata: object },
    options: WriteOptions = {},
  ): Promise<T> {
    const resource = await this.#locate(options);
    const path = collectionPath(resource, (object.metadata as Partial<ObjectName>).namespace);
    return await this.#write(resource, { method: 'POST', path, body: withType(object, resource) }, options);
  }

  /** Replaces an object; with its resource version, only if that is current. */
  async update(object: T, options: WriteOptions = {}): Promise<T> {
    const resource = await this.#locate(options);
    const path = objectPath(resource, object.metadata, options.subresource);
    const body = withType(this.#format(object, resource.version), resource);
    return await this.#write(resource, { method: 'PUT', path, body }, options);
  }

  async patch(object: ObjectName, patch: Patch, options: WriteOptions = {}): Promise<T> {
    const resource = await this.#locate(options);
    const path = objectPath(resource, object, options.subresource);
    const contentType = PATCH_TYPES[patch.type];
    return await this.#write(resource, { method: 'PATCH', path, body: patch.body, contentType }, options);
  }

  /**
   * Applies an object on the server: its manager gets the named fields, and loses those that it named before.
   *
   * @param options `force` takes fields from other managers
   */
  async apply(
    object: { readonly metadata: ObjectName; readonly [field: string]: unknown },
    options: WriteOptions & { readonly fieldManager: string; readonly force?: boolean },
  ): Promise<T> {
    const resource = await this.#locate(options);
    const path = objectPath(resource, object.metadata, options.subresource);
    const contentType = 'application/apply-patch+yaml'; // a superset of JSON
    const force = options.force === true ? { force: 'true' } : {};
    return await this.#write(
      resource,
      { method: 'PATCH', path, body: withType(object, resource), contentType },
      { ...options, query: force },
    );
  }

  /** Deletes an object; it remains while it has finalizers. */
  async delete(object: ObjectName, options: DeleteOptions = {}): Promise<void> {
    const { preconditions, propagationPolicy } = options;
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ...(preconditions && { preconditions }),
      ...(propagationPolicy && { propagationPolicy }),
    };
    const path = objectPath(await this.#locate(options), object, options.subresource);
    await this.#api.requestJson({ method: 'DELETE', path: withQuery(path, queryOf(options)), body }, options);
  }

  async #locate({ signal }: { readonly signal?: AbortSignal }): Promise<ApiResource> {
    const resource = this.#resource;
    return typeof resource === 'function' ? await resource(signal ?? NEVER_ABORTED) : resource;
  }

  async #write(
    resource: ApiResource,
    request: { method: 'POST' | 'PUT' | 'PATCH'; path: string; body: unknown; contentType?: string },
    { query = {}, ...options }: WriteOptions & { readonly query?: Readonly<Record<string, string>> },
  ): Promise<T> {
    const { path } = request;
    const target = withQuery(path, { ...queryOf(options), ...query });
    return this.#take(path, await this.#api.requestJson({ ...request, path: target }, options), resource);
  }

  #take(path: string, value: unknown, { version }: ApiResource): T {
    try {
      return this.#read(value, version);
    } catch (cause) {
      throw new MalformedResponse(`Cannot read response of the API server for ${path}`, { cause });
    }
  }
}

const NEVER_ABORTED = new AbortController().signal;

function withType(object: object, resource: ApiResource): object {
  return { ...object, apiVersion: formatApiVersion(resource), kind: resource.kind };
}

function queryOf({ fieldManager, dryRun }: WriteOptions): Record<string, string> {
  return { ...(fieldManager && { fieldManager }), ...(dryRun && { dryRun: 'All' }) };
}

function withQuery(path: string, query: Readonly<Record<string, string>>): string {
  const parameters = new URLSearchParams(query).toString();
  return parameters === '' ? path : `${path}?${parameters}`;
}

/** Options of retries after conflicts. */
interface ConflictRetryOptions<Read> {
  /** Reads the current object again; `undefined` gives up, if the write must not be repeated. */
  readonly reread: () => Promise<Read | undefined>;
  /** Which failures another read may cure; by default conflicts. */
  readonly isOutdated?: (error: unknown) => boolean;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly signal?: AbortSignal | undefined;
  /** A number in [0, 1), so that conflicting clients do not collide again; by default `Math.random`. */
  readonly random?: () => number;
}

/** With the first one. */
const MAX_ATTEMPTS = 5;
const DELAY_MS = 10;

/**
 * Writes an object, and again while the write is refused because another client has changed the object since it was
 * read.
 *
 * @param read the object as it was read before; each further attempt writes over what `reread` returns
 * @throws errors of the write and the read; the conflict after the last attempt, or when `reread` gives up
 */
export async function retryOnConflict<Read, Written>(
  read: Read,
  write: (latest: Read) => Promise<Written>,
  options: ConflictRetryOptions<Read>,
): Promise<Written> {
  const { reread, isOutdated = isConflict, clock, signal, random = Math.random } = options;
  let latest: Read = read;
  for (let attempt = 1; ; attempt++) {
    try {
      return await write(latest);
    } catch (error) {
      if (attempt >= MAX_ATTEMPTS || !isOutdated(error)) throw error;
      await clock.sleep(DELAY_MS * (1 + random()), signal ? { signal } : {});
      const found = await reread();
      if (found === undefined) throw error;
      latest = found;
    }
  }
}
