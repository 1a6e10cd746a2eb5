import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { type Collection, listCollection } from '#lib/kubernetes/client/list-watch.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';

/** Who asks the API server, and whose permissions are looked at. */
export interface ApiContextOptions {
  readonly access: ClusterAccess;
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The account of the server, where the doctor has one of its own; `undefined` where it has the server's. */
  readonly serverAccount: string | undefined;
}

/** What checks share that look at a cluster through its API server. */
export class ApiContext {
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly serverAccount: string | undefined;
  readonly client: ApiClient;
  /** Knows what the API server serves. */
  readonly mapper: RestMapper;
  #account: Promise<string | undefined> | undefined;

  constructor({ access, client, clock, signal, serverAccount }: ApiContextOptions) {
    this.access = access;
    this.clock = clock;
    this.signal = signal;
    this.serverAccount = serverAccount;
    this.client = client;
    this.mapper = new RestMapper({ api: client, clock });
  }

  /**
   * Reads from the API server.
   *
   * @param permission what it takes, as in `get configmaps`
   * @throws {MissingPermission} when that is refused
   */
  async get(path: string, permission: string): Promise<unknown> {
    return await requiring(permission, () => this.client.getJson(path, { signal: this.signal }));
  }

  /** Sends a review to the API server. */
  async review(path: string, review: unknown, permission: string): Promise<unknown> {
    const { signal } = this;
    return await requiring(permission, () => this.client.postJson(path, review, { signal }));
  }

  /**
   * Lists objects, of which those are left out that cannot be read.
   *
   * @param resource as permissions name it
   */
  async list<T>(
    resource: string,
    collection: Collection,
    read: (object: unknown) => T | undefined,
  ): Promise<readonly T[]> {
    const { signal } = this;
    const items: T[] = [];
    const visit = (object: unknown) => {
      const item = read(object);
      if (item !== undefined) items.push(item);
    };
    await requiring(`list ${resource}`, () => listCollection(this.client, collection, { visit, signal }));
    return items;
  }

  /** Who we are to the API server; `undefined` where that is not told, as before Kubernetes 1.28. */
  async account(): Promise<string | undefined> {
    this.#account ??= this.#askWhoWeAre();
    return await this.#account;
  }

  async #askWhoWeAre(): Promise<string | undefined> {
    const { signal } = this;
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const response = await this.client.postJson(path, review, { signal }).catch(() => undefined); // only names a remedy
    const name = propertyOf(propertyOf(propertyOf(response, 'status'), 'userInfo'), 'username');
    return typeof name === 'string' ? name : undefined;
  }
}

/** A permission without which a check cannot look. */
export class MissingPermission extends Error {
  /** As in `list nodes`. */
  readonly permission: string;

  constructor(permission: string, cause: unknown) {
    super(`the permission to ${permission} is missing`, { cause });
    this.permission = permission;
  }
}

/**
 * Sends a request that takes a permission.
 *
 * @throws {MissingPermission} when the API server refuses it
 */
export async function requiring<T>(permission: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof ApiError && error.statusCode === 403) throw new MissingPermission(permission, error);
    throw error;
  }
}
