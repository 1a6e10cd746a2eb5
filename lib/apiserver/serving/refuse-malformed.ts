import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { encodeDocument } from '#lib/apiserver/encoding/document.ts';
import {
  badRequest,
  methodNotAllowed,
  StatusError,
  statusDocument,
} from '#lib/apiserver/http/status-error.ts';
import type { RefusalReason } from './serving-telemetry.ts';

/**
 * Responds to what Node's HTTP/1.1 parser makes no request of. A method that it does not know is one that nothing
 * here does, so its response is that of any other wrong method.
 */
export function refuseMalformed(error: Error & { readonly code?: string }, connection: Duplex): void {
  if (!connection.writable) {
    connection.destroy();
    return;
  }
  const failure = failureOf(error.code);
  const body = encodeDocument(statusDocument(failure), { format: 'json', isPretty: true });
  const head = [
    `HTTP/1.1 ${failure.code} ${failure.reason}`,
    `Audit-Id: ${randomUUID()}`,
    'Cache-Control: no-cache, private',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  connection.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** What to count it as; `undefined` where nothing is refused, as when a client leaves before its response has. */
export function refusalReasonOf(code: string | undefined): RefusalReason | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'too_slow';
  return code?.startsWith('HPE_') ? 'malformed' : undefined;
}

function failureOf(code: string | undefined): StatusError {
  switch (code) {
    case 'HPE_INVALID_METHOD':
      return methodNotAllowed();
    case 'HPE_HEADER_OVERFLOW':
      return new StatusError(431, 'RequestHeaderFieldsTooLarge', 'the request headers are too large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new StatusError(408, 'Timeout', 'the request was not sent in time');
    default:
      return badRequest('the request is malformed');
  }
}
