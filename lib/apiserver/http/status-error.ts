import type { Document } from '#lib/apiserver/encoding/document.ts';
import { documentOf, field, MessageType } from '#lib/apiserver/encoding/message-type.ts';
import { LIST_META } from '#lib/apiserver/encoding/object-meta.ts';
import { manyOf, TEXT, WHOLE_NUMBER } from '#lib/apiserver/encoding/value-types.ts';
import { goQuote } from '#lib/kubernetes/selectors/go-quote.ts';

/** One of several causes of a failure, each about one field of what was sent. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** Facts for programs about a failure. */
interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** A failure that the client is told of as a `metav1.Status`. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  /** The HTTP status, too. */
  readonly code: number;
  /** One of Kubernetes' `metav1.StatusReason`; empty for an error of a backend that has none. */
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

/** The failure as a response. */
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

/** A resource, by the names that messages call it. */
interface GroupResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
}

/** 400: the request makes no sense as it is. */
export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message);
}

/** 401: who is asking cannot be told. */
export function unauthorized(): StatusError {
  return new StatusError(401, 'Unauthorized', 'Unauthorized');
}

/**
 * 403: the caller may not do this.
 *
 * @param resource `undefined` for a path that is no resource's
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

/** 404: there is no object of this name. */
export function notFound(resource: GroupResource, name: string): StatusError {
  return new StatusError(404, 'NotFound', `${qualified(resource)} ${goQuote(name)} not found`, {
    details: { name, group: resource.group, kind: resource.resource },
  });
}

/** 404: the path leads into a served group, but to no resource of it. */
export function noSuchResource(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', {
    details: {},
  });
}

/** 405: the path leads to something, but not by this method. */
export function methodNotAllowed(): StatusError {
  return new StatusError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    { details: {} },
  );
}

/** 405: the resource is there, but does not do this. */
export function notSupported(resource: GroupResource, action: string): StatusError {
  return new StatusError(
    405,
    'MethodNotAllowed',
    `${action} is not supported on resources of kind ${goQuote(qualified(resource))}`,
    { details: { group: resource.group, kind: resource.resource } },
  );
}

/** 406 with the message that go-restful gives before Kubernetes negotiates anything. */
export function notProducible(available: readonly string[]): StatusError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`;
  return new StatusError(406, 'NotAcceptable', message, { details: {} });
}

/** 406: what is asked for cannot be made of this. */
export function notAcceptable(message: string): StatusError {
  return new StatusError(406, 'NotAcceptable', message);
}

/** 410: it was there, but is not known any more. */
export function expired(message: string): StatusError {
  return new StatusError(410, 'Expired', message);
}

/** 415: the request says that it has a body of a kind that is not read here, as go-restful words it. */
export function unsupportedMediaType(): StatusError {
  return new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', { details: {} });
}

/** 422: options that are well-formed, but not together. */
export function invalidOptions(causes: readonly StatusCause[]): StatusError {
  const errors = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const all = errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`;
  return new StatusError(422, 'Invalid', `ListOptions.meta.k8s.io "" is invalid: ${all}`, {
    details: { group: 'meta.k8s.io', kind: 'ListOptions', causes },
  });
}

/** 429: too much is going on; come again. */
export function tooManyRequests(retryAfterSeconds: number): StatusError {
  return new StatusError(429, 'TooManyRequests', 'Too many requests, please try again later.', {
    details: { retryAfterSeconds },
  });
}

/** 500: our own error. What went wrong is for our log alone: it may quote what callers must not see. */
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
