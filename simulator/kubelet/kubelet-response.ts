import type { ServerResponse } from 'node:http';

/** What a kubelet responds, before it is put on the wire. */
export interface KubeletResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

// Go's HTTP server announces the length of a response that fits its buffer, and chunks what is longer.
const GO_BUFFER_BYTES = 2048;

/**
 * Puts a response on the wire as Go's `net/http` does: no Connection header, a length for what is short and for
 * what is compressed, chunks for the rest.
 */
export function sendResponse({ status, headers, body }: KubeletResponse, response: ServerResponse): void {
  response.removeHeader('Connection');
  const isWhole = body.length <= GO_BUFFER_BYTES || 'Content-Length' in headers;
  response.writeHead(status, isWhole ? { ...headers, 'Content-Length': body.length } : { ...headers });
  if (isWhole) {
    response.end(body);
  } else {
    response.write(body);
    response.end();
  }
}

/** A short plain-text response, as from Go's `http.Error`. */
export function textResponse(status: number, text: string): KubeletResponse {
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body: Buffer.from(text) };
}
