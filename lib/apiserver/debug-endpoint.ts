import { printableLines } from '#lib/telemetry/printable.ts';
import type { Endpoint } from './http/api-context.ts';
import { refuseUnknownParameters } from './http/query-values.ts';
import { methodNotAllowed } from './http/status-error.ts';
import { writeBody } from './http/write-response.ts';

/**
 * An endpoint of `/debug/` for people in a terminal: indented JSON without control characters.
 *
 * @param parameters allowed in the query; any other is refused with 400, and methods other than GET and HEAD with 405
 * @param report builds the response; a `StatusError` that it throws becomes the response
 */
export function debugEndpoint(
  parameters: readonly string[],
  report: (query: URLSearchParams) => object,
): Endpoint {
  return (context) => {
    if (context.method !== 'GET' && context.method !== 'HEAD') throw methodNotAllowed();
    const { query } = context.state;
    refuseUnknownParameters(query, parameters);
    const text = JSON.stringify(report(query), undefined, 2);
    writeBody(context, Buffer.from(`${printableLines(text)}\n`), 'json');
  };
}
