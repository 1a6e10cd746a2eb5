import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { type Collection, listCollection } from '#lib/kubernetes/client/list-watch.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';

export interface ClusterContextOptions {
  readonly access: ClusterAccess;
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The server's account, if the doctor runs under another one; otherwise `undefined`. */
  readonly serverAccount: string | undefined;
}

/** Access to the API server, shared by checks. */
export class ClusterContext {
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly serverAccount: string | undefined;
  readonly client: ApiClient;
  readonly mapper: RestMapper;
  #account: Promise<string | undefined> | undefined;

  constructor({ access, client, clock, signal, serverAccount }: ClusterContextOptions) {
    this.access = access;
    this.clock = clock;
    this.signal = signal;
    this.serverAccount = serverAccount;
    this.client = client;
    this.mapper = new RestMapper({ api: client, clock });
  }

  /**
   * Sends a GET request to the API server.
   *
   * @param permission that the request requires, as in `get configmaps`
   * @throws {MissingPermission} if the API server denies it
   */
  async get(path: string, permission: string): Promise<unknown> {
    return await requirePermission(permission, () => this.client.getJson(path, { signal: this.signal }));
  }

  /** Posts a review. @throws {MissingPermission} as {@link get} */
  async review(path: string, review: unknown, permission: string): Promise<unknown> {
    const { signal } = this;
    return await requirePermission(permission, () => this.client.postJson(path, review, { signal }));
  }

  /**
   * Lists objects; skips those that `read` returns `undefined` for.
   *
   * @param resource as named in permissions
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
    await requirePermission(`list ${resource}`, () =>
      listCollection(this.client, collection, { visit, signal }),
    );
    return items;
  }

  /**
   * The user name of the credentials; `undefined` where the API server does not return it (before Kubernetes 1.28).
   */
  async account(): Promise<string | undefined> {
    this.#account ??= this.#findAccount();
    return await this.#account;
  }

  async #findAccount(): Promise<string | undefined> {
    const { signal } = this;
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const response = await this.client.postJson(path, review, { signal }).catch(() => undefined); // used only in a remedy
    const name = propertyOf(propertyOf(propertyOf(response, 'status'), 'userInfo'), 'username');
    return typeof name === 'string' ? name : undefined;
  }
}

/** A check cannot run without this permission. */
export class MissingPermission extends Error {
  /** As in `list nodes`. */
  readonly permission: string;

  constructor(permission: string, cause: unknown) {
    super(`the permission to ${permission} is missing`, { cause });
    this.permission = permission;
  }
}

/** Sends a request. @throws {MissingPermission} if the API server denies it */
export async function requirePermission<T>(permission: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof ApiError && error.statusCode === 403) throw new MissingPermission(permission, error);
    throw error;
  }
}
