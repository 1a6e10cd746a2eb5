import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { describeError } from '#lib/telemetry/logger.ts';

/** What a request was about, as Kubernetes' client names it: `get pods.metrics.k8s.io`. */
export interface RequestedResource {
  readonly resource: string;
  readonly group: string;
}

/**
 * Says why a request failed, in the words of conditions and events: those of the server's Status, or where it gave none
 * those of Kubernetes' client.
 */
export function serverWords(error: unknown, { resource, group }: RequestedResource): string {
  if (!(error instanceof ApiError)) return describeError(error);
  if (error.serverMessage) return error.serverMessage;
  const request = `(get ${resource}${group === '' ? '' : `.${group}`})`;
  const words = STATUS_WORDS[error.statusCode];
  return words === undefined ? error.message : `${words} ${request}`;
}

const STATUS_WORDS: Readonly<Record<number, string>> = {
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
};
