import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Authenticator } from '#lib/apiserver/access/authenticator.ts';
import type { Middleware, RequestState, User } from '#lib/apiserver/http/api-context.ts';
import { unauthorized } from '#lib/apiserver/http/status-error.ts';

/** Finds out who a request comes from, and responds with 401 where its credentials are not good. */
export function authenticate(authenticator: Authenticator): Middleware {
  return ({ req, state }): Promise<void> | void => {
    const found = authenticator({
      headers: req.headers,
      rawHeaders: req.rawHeaders,
      socket: connectionOf(req),
      signal: () => state.deadline.signal,
    });
    if (found instanceof Promise) return found.then((user) => noteUser(state, user));
    noteUser(state, found);
  };
}

function noteUser(state: RequestState, user: User | undefined): void {
  if (!user) throw unauthorized();
  state.user = user;
}

/** The same object for all requests of one connection; that of HTTP/2's requests is another one for each. */
function connectionOf(request: IncomingMessage | Http2ServerRequest): TLSSocket {
  const session = 'stream' in request ? request.stream.session : undefined;
  return (session?.socket ?? request.socket) as TLSSocket; // nothing else is listened for
}
