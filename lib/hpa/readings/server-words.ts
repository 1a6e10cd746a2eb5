import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { describeError } from '#lib/telemetry/logger.ts';

/** What a request was about, as Kubernetes' client names it: `get services.custom.metrics.k8s.io web`. */
export interface RequestedResource {
  readonly resource: string;
  readonly group: string;
  /** Of the object that was asked for; `*` of all. */
  readonly name?: string;
}

/**
 * Says why a request failed, in the words of conditions and events: those of the server's Status, or where it gave none
 * those of Kubernetes' client.
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
