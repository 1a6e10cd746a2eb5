import { printableLines } from '#lib/telemetry/printable.ts';
import type { Endpoint } from './http/api-context.ts';
import { refuseUnknownParameters } from './http/query-values.ts';
import { methodNotAllowed } from './http/status-error.ts';
import { writeBody } from './http/write-response.ts';

/**
 * An endpoint of `/debug/`, which people read in a terminal: indented JSON without control characters.
 *
 * @param parameters those that its query may have; any other is refused with 400, and another method than GET and HEAD with 405
 * @param tell makes what is told of; a `StatusError` that it throws is the response
 */
export function debugEndpoint(
  parameters: readonly string[],
  tell: (query: URLSearchParams) => object,
): Endpoint {
  return (context) => {
    if (context.method !== 'GET' && context.method !== 'HEAD') throw methodNotAllowed();
    const { query } = context.state;
    refuseUnknownParameters(query, parameters);
    const text = JSON.stringify(tell(query), undefined, 2);
    writeBody(context, Buffer.from(`${printableLines(text)}\n`), 'json');
  };
}
