import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '#lib/time/clock.ts';

/** As much of a body as Go's servers read though nobody wants it. */
export const MAX_BODY_BYTES = 256 * 1024;

/** For so long a client may go on to read the response before the connection is cut, as in Go. */
const LINGER_MS = 500;

/**
 * Reads no more than a bounded part of the body of an HTTP/1.1 request: nothing here wants one, but without reading
 * it the next request on the connection is not reached. One that is longer gets its response, and ends its connection. HTTP/2 has
 * its windows for that.
 */
export function limitBody(
  request: IncomingMessage,
  response: ServerResponse,
  { clock, onExceeded }: { readonly clock: Clock; readonly onExceeded: () => void },
): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (encoding === undefined && (length === undefined || length === '0')) return;
  let bytes = 0;
  const count = (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) return;
    request.off('data', count);
    request.pause();
    onExceeded();
    if (!response.headersSent) response.setHeader('Connection', 'close');
    if (response.writableFinished) cutOff(request, clock);
    else response.once('finish', () => cutOff(request, clock));
  };
  request.on('data', count);
}

/** Says that nothing more will come, and leaves the client the time to read what has. */
function cutOff({ socket }: IncomingMessage, clock: Clock): void {
  const timer = new AbortController();
  socket.once('close', () => timer.abort());
  socket.end();
  clock.sleep(LINGER_MS, { signal: timer.signal }).then(
    () => socket.destroy(),
    () => {}, // the client has left
  );
}
