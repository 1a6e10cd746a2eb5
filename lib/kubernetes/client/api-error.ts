import * as z from 'zod';
import { describeError } from '#lib/telemetry/error-text.ts';
import { parseJson } from '../objects/kubernetes-object.ts';

/** A failure from the API server: an HTTP status other than 2xx, or the Status that ends a watch. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly statusCode: number;
  /** Kubernetes' reason, such as `Forbidden`, `Expired` or `NotFound`; `undefined` without a Status. */
  readonly reason: string | undefined;
  /** The message of the server's Status; `undefined` without one. */
  readonly serverMessage: string | undefined;
  /** The retry delay that the server requests. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    facts: {
      readonly statusCode: number;
      readonly reason: string | undefined;
      readonly serverMessage?: string | undefined;
      readonly retryAfterMs: number | undefined;
    },
  ) {
    super(message);
    this.statusCode = facts.statusCode;
    this.reason = facts.reason;
    this.serverMessage = facts.serverMessage;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** Whether the requested resource version or page is no longer available. */
export function isExpired(error: unknown): boolean {
  return error instanceof ApiError && (error.statusCode === 410 || error.reason === 'Expired');
}

/** Whether the object, or the resource, does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.statusCode === 404;
}

/** Whether a write was refused because the object has changed since it was read. */
export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.statusCode === 409 && error.reason !== 'AlreadyExists';
}

/** Whether an object could not be created because its name exists already. */
export function isAlreadyExists(error: unknown): boolean {
  return error instanceof ApiError && error.statusCode === 409 && error.reason === 'AlreadyExists';
}

const STATUS = z.object({
  kind: z.literal('Status'),
  message: z.string().optional(),
  reason: z.string().optional(),
  code: z.number().optional(),
  details: z.object({ retryAfterSeconds: z.number().nonnegative().optional() }).optional(),
});

/** A longer body that is not a Status is truncated in the message. */
const MAX_TEXT_LENGTH = 200;

/**
 * Makes an error of a response.
 *
 * @param what the beginning of the message: what failed
 * @param retryAfter the Retry-After header, in seconds
 */
export function apiErrorOf(
  what: string,
  response: { readonly statusCode: number; readonly body: string; readonly retryAfter?: string | undefined },
): ApiError {
  const { statusCode, body, retryAfter } = response;
  const status = STATUS.safeParse(parseJson(body)).data;
  const text = status?.message ?? body.trim().slice(0, MAX_TEXT_LENGTH);
  return new ApiError(`${what}: ${text === '' ? 'no reason given' : text} (status ${statusCode})`, {
    statusCode,
    reason: status?.reason,
    serverMessage: status?.message,
    retryAfterMs: secondsToMs(retryAfter) ?? secondsToMs(status?.details?.retryAfterSeconds),
  });
}

function secondsToMs(seconds: string | number | undefined): number | undefined {
  return seconds !== undefined && /^\d+$/.test(`${seconds}`) ? Number(seconds) * 1000 : undefined;
}

/** A response of the API server that a retry would not improve: too long, or malformed. */
export class MalformedResponse extends Error {
  override readonly name: string = 'MalformedResponse';
}

/** A response that is too long: a list may be requested in shorter pages. */
export class TooLongResponse extends MalformedResponse {
  override readonly name = 'TooLongResponse';
}

/** The object of a request, as Kubernetes' client formats it: `get services.custom.metrics.k8s.io web`. */
export interface RequestedResource {
  readonly resource: string;
  readonly group: string;
  /** Of the requested object; `*` for all. */
  readonly name?: string;
}

/**
 * Formats why a request failed, for conditions and events: the message of the server's Status, or else that of
 * Kubernetes' client.
 */
export function serverWords(error: unknown, { resource, group, name }: RequestedResource): string {
  if (!(error instanceof ApiError)) return describeError(error);
  if (error.serverMessage) return error.serverMessage;
  const qualified = group === '' ? resource : `${resource}.${group}`;
  const request = `(get ${qualified}${name === undefined ? '' : ` ${name}`})`;
  const words = STATUS_WORDS[error.statusCode];
  return words === undefined ? error.message : `${words} ${request}`;
}

const STATUS_WORDS: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  406: 'the server was unable to respond with a content type that the client supports',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};
