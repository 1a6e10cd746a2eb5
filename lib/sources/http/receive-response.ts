import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { onAbort } from '#lib/time/on-abort.ts';

/** How much of a response is taken, and for how long. */
export interface ReceiveOptions {
  /** A longer body is an error. */
  readonly maxBytes: number;
  /** Told how long the body is so far; no more is read before what it returns has settled. */
  readonly onLength?: ((bytes: number) => Promise<unknown> | undefined) | undefined;
  /** Breaks the connection when it aborts. */
  readonly signal: AbortSignal;
}

/** A response with its whole body. */
export interface ReceivedResponse {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * Sends a request and takes its response as undici reads it. To have it as a stream would cost twice the CPU: most
 * responses of sources come in one piece.
 *
 * @throws when there is no whole response, or it is longer than allowed, which breaks the connection; the signal's reason
 */
export async function receiveResponse(
  connection: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { maxBytes, onLength, signal }: ReceiveOptions,
): Promise<ReceivedResponse> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<ReceivedResponse>();
  let controller: Dispatcher.DispatchController | undefined;
  let [statusCode, headers, bytes] = [0, {} as IncomingHttpHeaders, 0];
  const chunks: Buffer[] = [];
  const fail = (error: Error) => {
    controller?.abort(error);
    reject(error);
  };
  using _aborted = onAbort(signal, () => fail(signal.reason));
  connection.dispatch(request, {
    onRequestStart(started) {
      controller = started;
      if (signal.aborted) started.abort(signal.reason); // while it was connecting
    },
    onResponseStart(_, status, received) {
      [statusCode, headers] = [status, received]; // the last of several: those before it are informational
    },
    onResponseData(reading, chunk) {
      if (chunk.length === 0) return; // as undici says when it goes on after a pause: another would follow, and another
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxBytes) return fail(new Error(`the response is longer than ${maxBytes} bytes`));
      const capacity = onLength?.(bytes);
      if (!capacity) return;
      reading.pause();
      capacity.then(() => reading.resume(), fail);
    },
    onResponseEnd: () => resolve({ statusCode, headers, body: Buffer.concat(chunks, bytes) }),
    onResponseError: (_, error) => reject(error),
  });
  return await promise;
}
