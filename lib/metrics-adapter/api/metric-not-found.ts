import { StatusError } from '#lib/apiserver/http/status-error.ts';

/**
 * 404: there is no such metric, in the words of the reference library.
 *
 * @param of the resource, and behind it an object's name where one is meant
 */
export function noSuchMetric(metric: string, of: string, selector = ''): StatusError {
  const chosen = selector === '' ? '' : ` with selector ${selector}`;
  return new StatusError(
    404,
    'NotFound',
    `the server could not find the metric ${metric} for ${of}${chosen}`,
  );
}
