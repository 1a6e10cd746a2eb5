import type { Document } from '#lib/apiserver/encoding/document.ts';
import { documentOf, field, MessageType } from '#lib/apiserver/encoding/message-type.ts';
import { LIST_META } from '#lib/apiserver/encoding/object-meta.ts';
import { manyOf, TEXT, WHOLE_NUMBER } from '#lib/apiserver/encoding/value-types.ts';
import { goQuote } from '#lib/kubernetes/selectors/go-quote.ts';

/** One of several causes of a failure, each about one field of the request. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** Machine-readable facts about a failure. */
interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** A failure that is returned to the client as a `metav1.Status`. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  /** Also the HTTP status. */
  readonly code: number;
  /** A `metav1.StatusReason` of Kubernetes; empty for an error of a backend that has none. */
  readonly reason: string;
  readonly details: StatusDetails | undefined;

  constructor(
    code: number,
    reason: string,
    message: string,
    options: { readonly details?: StatusDetails; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.reason = reason;
    this.details = options.details;
  }
}

export function statusDocument(error: StatusError): Document {
  return documentOf(error, STATUS, { kind: 'Status', apiVersion: 'v1' });
}

const CAUSE = new MessageType<StatusCause>({
  fields: {
    reason: field(TEXT, { number: 1, of: ({ reason }) => reason }),
    message: field(TEXT, { number: 2, of: ({ message }) => message }),
    field: field(TEXT, { number: 3, of: ({ field }) => field }),
  },
});

const DETAILS = new MessageType<StatusDetails>({
  fields: {
    name: field(TEXT, { number: 1, isOptional: true, of: ({ name = '' }) => name }),
    group: field(TEXT, { number: 2, isOptional: true, of: ({ group = '' }) => group }),
    kind: field(TEXT, { number: 3, isOptional: true, of: ({ kind = '' }) => kind }),
    uid: field(TEXT, { number: 6, isOptional: true, of: () => '' }),
    causes: field(manyOf(CAUSE), { number: 4, isOptional: true, of: ({ causes }) => causes }),
    retryAfterSeconds: field(WHOLE_NUMBER, {
      number: 5,
      isOptional: true,
      of: ({ retryAfterSeconds = 0 }) => retryAfterSeconds,
    }),
  },
});

/** `metav1.Status` of a failure. */
const STATUS = new MessageType<StatusError>({
  fields: {
    metadata: field(LIST_META, { number: 1, of: () => ({}) }),
    status: field(TEXT, { number: 2, of: () => 'Failure' }),
    message: field(TEXT, { number: 3, of: ({ message }) => message }),
    reason: field(TEXT, { number: 4, isOptional: true, of: ({ reason }) => reason }),
    details: field(DETAILS, { number: 5, isOptional: true, of: ({ details }) => details }),
    code: field(WHOLE_NUMBER, { number: 6, of: ({ code }) => code }),
  },
});

/** Names of a resource in messages. */
interface GroupResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
}

/** 400: the request is invalid. */
export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message);
}

/** 401: the caller cannot be identified. */
export function unauthorized(): StatusError {
  return new StatusError(401, 'Unauthorized', 'Unauthorized');
}

/**
 * 403: the caller may not do this.
 *
 * @param resource `undefined` for a path that is not a resource's
 * @param reason a whole sentence about caller and action
 */
export function forbidden(
  resource: GroupResource | undefined,
  { name, reason }: { readonly name: string; readonly reason: string },
): StatusError {
  if (!resource) return new StatusError(403, 'Forbidden', `forbidden: ${reason}`, { details: {} });
  const named = name === '' ? '' : ` ${goQuote(name)}`;
  return new StatusError(403, 'Forbidden', `${qualified(resource)}${named} is forbidden: ${reason}`, {
    details: { name, group: resource.group, kind: resource.resource },
  });
}

/** 404: no object has this name. */
export function notFound(resource: GroupResource, name: string): StatusError {
  return new StatusError(404, 'NotFound', `${qualified(resource)} ${goQuote(name)} not found`, {
    details: { name, group: resource.group, kind: resource.resource },
  });
}

/** 404: the path is in a served group, but matches none of its resources. */
export function noSuchResource(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', {
    details: {},
  });
}

/** 405: the path does not support this method. */
export function methodNotAllowed(): StatusError {
  return new StatusError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    { details: {} },
  );
}

/** 405: the resource does not support this action. */
export function notSupported(resource: GroupResource, action: string): StatusError {
  return new StatusError(
    405,
    'MethodNotAllowed',
    `${action} is not supported on resources of kind ${goQuote(qualified(resource))}`,
    { details: { group: resource.group, kind: resource.resource } },
  );
}

/** 406 with the message of go-restful, which precedes Kubernetes' own negotiation. */
export function notProducible(available: readonly string[]): StatusError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`;
  return new StatusError(406, 'NotAcceptable', message, { details: {} });
}

/** 406: the response is not available in the requested form. */
export function notAcceptable(message: string): StatusError {
  return new StatusError(406, 'NotAcceptable', message);
}

/** 410: the requested version or token is no longer available. */
export function expired(message: string): StatusError {
  return new StatusError(410, 'Expired', message);
}

/** 415: the request declares a body of an unsupported type, in the words of go-restful. */
export function unsupportedMediaType(): StatusError {
  return new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', { details: {} });
}

/** 422: options that are valid by themselves, but not together. */
export function invalidOptions(causes: readonly StatusCause[]): StatusError {
  const errors = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const all = errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`;
  return new StatusError(422, 'Invalid', `ListOptions.meta.k8s.io "" is invalid: ${all}`, {
    details: { group: 'meta.k8s.io', kind: 'ListOptions', causes },
  });
}

/** 429: too many requests; the client should retry. */
export function tooManyRequests(retryAfterSeconds: number): StatusError {
  return new StatusError(429, 'TooManyRequests', 'Too many requests, please try again later.', {
    details: { retryAfterSeconds },
  });
}

/** 500: an internal error. The cause is for our log alone: it may quote what callers must not see. */
export function internalError(cause: unknown): StatusError {
  const message = 'This request caused apiserver to panic. Look in the logs for details.';
  return new StatusError(500, 'InternalError', message, { details: {}, cause });
}

/** 504: it took longer than the client or this server waits. */
export function timedOut(): StatusError {
  return new StatusError(504, 'Timeout', 'Timeout: request did not complete within the allotted timeout', {
    details: {},
  });
}

function qualified({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`;
}
