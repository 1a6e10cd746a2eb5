import type { Document } from '#lib/apiserver/encoding/document.ts';
import { LIST_META } from '#lib/apiserver/objects/list-meta.ts';
import { documentOf, field, MessageType } from '#lib/apiserver/objects/message-type.ts';
import { manyOf, TEXT, WHOLE_NUMBER } from '#lib/apiserver/objects/value-types.ts';

/** One of several causes of a failure, each about one field of what was sent. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** Facts for programs about a failure. */
export interface StatusDetails {
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
