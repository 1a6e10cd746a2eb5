import { ApiError } from '#lib/kubernetes/client/api-error.ts';

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
