import type { Document } from '#lib/apiserver/encoding/document.ts';
import type { JsonObject } from '#lib/apiserver/encoding/json-value.ts';
import type { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { writeListMeta } from '#lib/apiserver/objects/list-meta.ts';

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
  return {
    apiVersion: 'v1',
    kind: 'Status',
    fields: () => statusFields(error),
    writeFields: (message) => writeStatus(message, error),
  };
}

function statusFields({ message, reason, details, code }: StatusError): JsonObject {
  return {
    metadata: {},
    status: 'Failure',
    message,
    ...(reason && { reason }),
    ...(details && { details: detailsFields(details) }),
    code,
  };
}

function detailsFields({ name, group, kind, causes, retryAfterSeconds }: StatusDetails): JsonObject {
  return {
    ...(name && { name }),
    ...(group && { group }),
    ...(kind && { kind }),
    ...(causes && { causes: causes.map(({ reason, message, field }) => ({ reason, message, field })) }),
    ...(retryAfterSeconds && { retryAfterSeconds }),
  };
}

function writeStatus(writer: ProtobufWriter, { message, reason, details, code }: StatusError): void {
  writer.message(1, () => writeListMeta(writer, {}));
  writer.string(2, 'Failure');
  writer.string(3, message);
  writer.string(4, reason);
  if (details) writer.message(5, () => writeDetails(writer, details));
  writer.uint(6, code);
}

function writeDetails(writer: ProtobufWriter, details: StatusDetails): void {
  writer.string(1, details.name ?? '');
  writer.string(2, details.group ?? '');
  writer.string(3, details.kind ?? '');
  for (const { reason, message, field } of details.causes ?? []) {
    writer.message(4, () => {
      writer.string(1, reason);
      writer.string(2, message);
      writer.string(3, field);
    });
  }
  writer.uint(5, details.retryAfterSeconds ?? 0);
  writer.string(6, ''); // uid
}
