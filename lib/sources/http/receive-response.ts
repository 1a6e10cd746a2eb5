import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { onAbort } from '#lib/time/abort-signal.ts';

export interface ReceiveOptions {
  /** A longer body is an error. */
  readonly maxBytes: number;
  /** Called with the bytes received so far; reading pauses until its promise settles. */
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

/** Each takes some hundred bytes of memory and a call. */
const MAX_PIECES = 65_536;
const MAX_BUFFERED_PIECES = 1_024;
/** Informational responses, such as `103 Early Hints`. */
const MAX_INFORMATIONAL = 20;

/**
 * Sends a request and receives the response by callbacks of undici. A stream would take twice the CPU, since most
 * responses arrive in one piece.
 *
 * @throws if the response is incomplete or too long, which breaks the connection; the signal's reason if it aborts
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
  let [starts, pieces] = [0, 0];
  const chunks: Buffer[] = [];
  let small: Buffer[] = [];
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
      [statusCode, headers] = [status, received]; // the last of several; those before it are informational
      if (++starts > MAX_INFORMATIONAL)
        fail(new Error(`the server sent more than ${MAX_INFORMATIONAL} informational responses`));
    },
    onResponseData(reading, chunk) {
      if (chunk.length === 0) return; // undici reports one after each pause, which must not cause another pause
      small.push(chunk);
      bytes += chunk.length;
      if (bytes > maxBytes) return fail(new Error(`the response is longer than ${maxBytes} bytes`));
      if (++pieces > MAX_PIECES)
        return fail(new Error(`the response arrives in more than ${MAX_PIECES} pieces`));
      if (small.length === MAX_BUFFERED_PIECES) {
        chunks.push(Buffer.concat(small));
        small = [];
      }
      const capacity = onLength?.(bytes);
      if (!capacity) return;
      reading.pause();
      capacity.then(() => reading.resume(), fail);
    },
    onResponseEnd: () => resolve({ statusCode, headers, body: Buffer.concat([...chunks, ...small], bytes) }),
    onResponseError: (_, error) => reject(error),
  });
  return await promise;
}
