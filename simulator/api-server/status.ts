import { type GroupResource, qualified } from '../resources/resource-type.ts';
import type { FieldError } from '../resources/validate.ts';

/** A `metav1.Status`, in the field order of the real server. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly status: 'Failure' | 'Success';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly {
    readonly reason?: string;
    readonly message?: string;
    readonly field?: string;
  }[];
  readonly retryAfterSeconds?: number;
}

/** A request that fails with a Status; handlers throw it. */
export class ApiError extends Error {
  readonly code: number;
  /** Empty where the real server has none. */
  readonly reason: string;
  readonly details: StatusDetails | undefined;

  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details ? { details: this.details } : {}),
      code: this.code,
    };
  }
}

/** 400. */
export function badRequest(message: string): ApiError {
  return new ApiError(400, 'BadRequest', message);
}

/** 404 of an object of a served resource. */
export function notFound(resource: GroupResource, name: string): ApiError {
  return new ApiError(
    404,
    'NotFound',
    `${qualified(resource)} "${name}" not found`,
    detailsOf(resource, name),
  );
}

/** 404 of an unknown path. */
export function noSuchPath(): ApiError {
  return new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});
}

/** 405. */
export function methodNotAllowed(): ApiError {
  return new ApiError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  );
}

/** 410 of a version that is no longer in the history. */
export function expired(message: string): ApiError {
  return new ApiError(410, 'Expired', message);
}

/** 422 of an invalid object. */
export function invalidObject(
  { group, kind }: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): ApiError {
  const texts = errors.map(({ field, message }) => `${field}: ${message}`);
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  const what = group ? `${kind}.${group}` : kind;
  return new ApiError(422, 'Invalid', `${what} ${JSON.stringify(name)} is invalid: ${list}`, {
    name,
    ...(group ? { group } : {}),
    kind,
    causes: errors.map(({ reason, message, field }) => ({ reason, message, field })),
  });
}

/** 409 of a write from an older state, or with preconditions that fail. */
export function conflict(resource: GroupResource, name: string, why: string): ApiError {
  return new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`,
    detailsOf(resource, name),
  );
}

/** 409 of a name that is taken. */
export function alreadyExists(resource: GroupResource, name: string): ApiError {
  const message = `${qualified(resource)} "${name}" already exists`;
  return new ApiError(409, 'AlreadyExists', message, detailsOf(resource, name));
}

/** The details of a Status about one object. */
export function detailsOf({ group, resource }: GroupResource, name: string): StatusDetails {
  return { name, ...(group ? { group } : {}), kind: resource };
}
